// Parses one row of a screen in coop's ANSI form into runs of text with the same look. It does not
// know the page that shows them.

/** An index into the palette, or an RGB colour. */
export type Color = number | { red: number; green: number; blue: number };

export interface Look {
  bold: boolean;
  faint: boolean;
  italic: boolean;
  underline: boolean;
  blink: boolean;
  inverse: boolean;
  strike: boolean;
  foreground?: Color;
  background?: Color;
}

export interface Run {
  text: string;
  look: Look;
}

const PLAIN: Look = {
  bold: false,
  faint: false,
  italic: false,
  underline: false,
  blink: false,
  inverse: false,
  strike: false,
};

const SGR = /\x1b\[([\d;]*)m/;

/** A row starts with the plain look; each sequence in it sets the whole look of the text after it. */
export function parseRow(line: string): Run[] {
  const runs: Run[] = [];
  let look = PLAIN;
  // Splitting by a pattern with one group returns text and group alternately.
  for (const [index, part] of line.split(SGR).entries()) {
    if (index % 2 === 1) {
      look = parseLook(part);
    } else if (part !== "") {
      runs.push({ text: part, look });
    }
  }
  return runs;
}

function parseLook(parameters: string): Look {
  const look = { ...PLAIN };
  const rest = parameters.split(";").map(Number).values();
  for (const code of rest) {
    switch (code) {
      case 1:
        look.bold = true;
        break;
      case 2:
        look.faint = true;
        break;
      case 3:
        look.italic = true;
        break;
      case 4:
        look.underline = true;
        break;
      case 5:
        look.blink = true;
        break;
      case 7:
        look.inverse = true;
        break;
      case 9:
        look.strike = true;
        break;
      case 38:
        set(look, "foreground", extended(rest));
        break;
      case 48:
        set(look, "background", extended(rest));
        break;
      default:
        set(look, "foreground", indexed(code, 30, 90));
        set(look, "background", indexed(code, 40, 100));
    }
  }
  return look;
}

function set(look: Look, part: "foreground" | "background", color: Color | undefined): void {
  if (color !== undefined) look[part] = color;
}

/** The sixteen colours with codes of their own: eight normal and eight bright. */
function indexed(code: number, normal: number, bright: number): number | undefined {
  if (code >= normal && code < normal + 8) return code - normal;
  if (code >= bright && code < bright + 8) return code - bright + 8;
  return undefined;
}

/** The parameters after 38 and 48: `5;index`, or `2;red;green;blue`. */
function extended(rest: Iterator<number>): Color | undefined {
  const next = (): number => rest.next().value ?? 0;
  switch (next()) {
    case 5:
      return next();
    case 2:
      return { red: next(), green: next(), blue: next() };
    default:
      return undefined;
  }
}

// Turns a row's runs into elements. Text becomes text nodes, and colours become classes or
// properties, so output of the program never becomes markup.
import { parseRow, type Color, type Look, type Run } from "./ansi";

/**
 * Characters that every monospaced font has at the width of one cell. Other characters may come
 * from another font, so each gets a box of the width that the terminal gives it.
 */
const FITTING = /([\u0020-\u02ff\u0370-\u052f\u2500-\u259f]+)/u;

/** Characters that take two cells. */
const WIDE = new RegExp(
  "[\\u1100-\\u115f\\u2329\\u232a\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7a3" +
    "\\uf900-\\ufaff\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6" +
    "\\u{1f200}-\\u{1f2ff}\\u{20000}-\\u{3fffd}]|\\p{Emoji_Presentation}",
  "u",
);

export function paintRow(line: string): Node[] {
  return parseRow(line).map(paintRun);
}

function paintRun({ text, look }: Run): HTMLElement {
  const span = document.createElement("span");
  span.append(...cells(text));
  applyLook(span, look);
  return span;
}

function cells(text: string): (string | HTMLElement)[] {
  // Splitting by a group returns other and fitting text alternately.
  return text
    .split(FITTING)
    .flatMap((part, index): (string | HTMLElement)[] => (index % 2 === 1 ? [part] : Array.from(part, boxed)));
}

function boxed(character: string): HTMLElement {
  const cell = document.createElement("span");
  cell.className = WIDE.test(character) ? "wide" : "cell";
  cell.textContent = character;
  return cell;
}

function applyLook(span: HTMLElement, look: Look): void {
  for (const name of ["bold", "faint", "italic", "underline", "strike", "blink"] as const) {
    if (look[name]) span.classList.add(name);
  }
  const { foreground, background } = look;
  if (look.inverse) {
    colour(span, "fg", background ?? "paper");
    colour(span, "bg", foreground ?? "ink");
  } else {
    if (foreground !== undefined) colour(span, "fg", foreground);
    if (background !== undefined) colour(span, "bg", background);
  }
}

function colour(span: HTMLElement, part: "fg" | "bg", color: Color | "ink" | "paper"): void {
  if (typeof color === "string" || (typeof color === "number" && color < 16)) {
    span.classList.add(`${part}-${color}`);
  } else {
    span.style.setProperty(part === "fg" ? "color" : "background-color", rgb(color));
  }
}

function rgb(color: Color): string {
  if (typeof color !== "number") return `rgb(${color.red} ${color.green} ${color.blue})`;
  // 16 to 231 are a colour cube with six levels for each component, 232 to 255 are greys.
  const level = (step: number): number => (step === 0 ? 0 : 55 + 40 * step);
  const grey = 8 + 10 * (color - 232);
  if (color >= 232) return `rgb(${grey} ${grey} ${grey})`;
  const cube = color - 16;
  return `rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`;
}

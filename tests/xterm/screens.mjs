// The screens of xterm.js: for each line of stdin, {cols, rows, bytes} with the bytes in base64, one
// line with the cursor and the cells. It does not know which terminal they are compared with.
import { createInterface } from 'node:readline';
import headless from '@xterm/headless';
import unicode11 from '@xterm/addon-unicode11';

const color = (mode, value) => {
  const palette = 0x1000000, palette256 = 0x2000000;
  if (mode === 0) return '';
  return mode === palette || mode === palette256 ? `${value}` : `#${value.toString(16).padStart(6, '0')}`;
};

// What a blank does not show is left out.
const look = (cell, blank) => {
  let flags = '';
  if (cell.isInverse()) flags += 'r';
  if (cell.isUnderline()) flags += 'u';
  if (cell.isStrikethrough()) flags += 's';
  if (!blank) {
    if (cell.isBold()) flags += 'b';
    if (cell.isDim()) flags += 'd';
    if (cell.isItalic()) flags += 'i';
    if (cell.isBlink()) flags += 'k';
  }
  const foreground = blank && !cell.isInverse() ? '' : color(cell.getFgColorMode(), cell.getFgColor());
  return `${flags}/${foreground}/${color(cell.getBgColorMode(), cell.getBgColor())}`;
};

const screen = async ({ cols, rows, bytes }) => {
  const terminal = new headless.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true });
  terminal.loadAddon(new unicode11.Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  await new Promise((resolve) => terminal.write(Buffer.from(bytes, 'base64'), resolve));
  const buffer = terminal.buffer.active;
  const lines = [];
  for (let row = 0; row < rows; row++) {
    const line = buffer.getLine(buffer.baseY + row);
    const cells = [];
    for (let col = 0; col < cols; col++) {
      const cell = line.getCell(col);
      const text = cell.getChars() || ' ';
      cells.push([cell.getWidth() === 0 && !cell.getChars() ? '' : text, cell.getWidth(), look(cell, text === ' ')]);
    }
    // Half of a wide character, which xterm.js sometimes leaves behind, is seen as a blank of any look.
    const blank = () => [' ', 1, '*'];
    const whole = cells.map((cell, col) => {
      const tail = cell[0] === '' && cell[1] === 0;
      if (tail && cells[col - 1]?.[1] !== 2) return blank();
      if (cell[1] === 2 && cells[col + 1]?.[0] !== '') return blank();
      return cell;
    });
    lines.push(whole);
  }
  terminal.dispose();
  return [buffer.cursorY, Math.min(buffer.cursorX, cols - 1), lines];
};

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await screen(JSON.parse(line))));
}

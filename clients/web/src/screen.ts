// The terminal on the page: rows, cursor, size. It draws snapshots and does not know where they come
// from.
import type { ScreenSnapshot } from "./client";
import { paintRow } from "./paint";

export class ScreenView {
  readonly #terminal: HTMLElement;
  readonly #rows: HTMLElement;
  /** The text of each row, so that only changed rows are drawn again. */
  #shown: string[] = [];

  constructor(terminal: HTMLElement, rows: HTMLElement) {
    this.#terminal = terminal;
    this.#rows = rows;
  }

  show(snapshot: ScreenSnapshot): void {
    const { cols, rows, cursor } = snapshot;
    this.#fitRows(rows);
    for (const [index, row] of Array.from(this.#rows.children).entries()) {
      const line = snapshot.lines[index] ?? "";
      if (this.#shown[index] === line) continue;
      this.#shown[index] = line;
      row.replaceChildren(...paintRow(line));
    }
    const { style } = this.#terminal;
    style.setProperty("--cols", String(cols));
    style.setProperty("--rows", String(rows));
    style.setProperty("--cursor-row", String(cursor?.row ?? 0));
    style.setProperty("--cursor-col", String(Math.min(cursor?.col ?? 0, cols - 1)));
    this.#terminal.classList.toggle("has-cursor", cursor !== undefined && !cursor.hidden);
  }

  /** How many cells of the current size fit into the given box. */
  cellsWithin(width: number, height: number): { cols: number; rows: number } {
    const { width: wide, height: high } = this.#rows.getBoundingClientRect();
    const style = this.#terminal.style;
    const within = (space: number, size: number, count: string): number =>
      Math.max(1, Math.min(1000, Math.floor((space * Number(count)) / size)));
    return {
      cols: within(width, wide, style.getPropertyValue("--cols")),
      rows: within(height, high, style.getPropertyValue("--rows")),
    };
  }

  #fitRows(count: number): void {
    while (this.#rows.children.length > count) this.#rows.lastElementChild?.remove();
    while (this.#rows.children.length < count) this.#rows.append(document.createElement("div"));
    this.#shown.length = count;
  }
}

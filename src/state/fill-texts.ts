/** Texts of a definition with the values of a thread in place of `{{NAME}}`. */
import { fillVariables, variablesIn } from '../core/author/mcp-server.ts';

export interface Filling {
  text(text: string): string;
  all(texts: Readonly<Record<string, string>>): Record<string, string>;
}

/** What the texts name is read once; a variable without a value is empty, unless its tool requires it. */
export async function fillingOf(
  texts: readonly string[],
  read: (name: string) => Promise<string>,
): Promise<Filling> {
  const values = new Map<string, string>();
  for (const name of new Set(texts.flatMap(variablesIn))) values.set(name, await read(name).catch(() => ''));
  const text = (given: string) => fillVariables(given, values);
  return {
    text,
    all: (given) => Object.fromEntries(Object.entries(given).map(([key, value]) => [key, text(value)])),
  };
}

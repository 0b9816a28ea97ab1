/** Replaces `{{NAME}}` in texts of a definition by the variables of a thread. */
import { fillVariables, variablesIn } from '../../core/author/mcp-server.ts';

export interface TextFiller {
  text(text: string): string;
  all(texts: Readonly<Record<string, string>>): Record<string, string>;
}

/** Reads each variable of the texts once. A missing value is empty; a call that requires it was refused before. */
export async function createTextFiller(
  texts: readonly string[],
  read: (name: string) => Promise<string>,
): Promise<TextFiller> {
  const values = new Map<string, string>();
  for (const name of new Set(texts.flatMap(variablesIn))) values.set(name, await read(name).catch(() => ''));
  const text = (given: string) => fillVariables(given, values);
  return {
    text,
    all: (given) => Object.fromEntries(Object.entries(given).map(([key, value]) => [key, text(value)])),
  };
}

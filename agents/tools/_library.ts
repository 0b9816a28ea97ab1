/**
 * The texts that the librarian may read: the Markdown files of `agents/texts`, and nothing else.
 * L1. A name is looked up in the folder's listing and never joined to a path unchecked, so no name leads out of it.
 * L2. Links are not listed: a link could lead anywhere.
 */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('../texts/', import.meta.url);

export interface Text {
  readonly file: string;
  /** The first heading. */
  readonly title: string;
  readonly lines: readonly string[];
}

export interface Hit {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** In order of name. */
export async function listTexts(): Promise<Text[]> {
  const entries = await readdir(fileURLToPath(FOLDER), { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map(({ name }) => name);
  return Promise.all(names.sort().map(readListed));
}

/** Undefined when the folder has no such text. */
export async function findText(file: string): Promise<Text | undefined> {
  return (await listTexts()).find((text) => text.file === file);
}

async function readListed(file: string): Promise<Text> {
  const lines = (await readFile(new URL(encodeURIComponent(file), FOLDER), 'utf8')).trimEnd().split(/\r?\n/);
  const title = lines.find((line) => line.startsWith('# '))?.slice(2) ?? file;
  return { file, title, lines };
}

/**
 * Lines that contain words of the query, best first: a line is worth the sum of its words, a word the more the fewer
 * lines have it. The line's heading counts half, so that a list item is found by what it is about.
 */
export function searchTexts(texts: readonly Text[], query: string): Hit[] {
  const lines = texts.flatMap(toSearchable);
  const wanted = [...new Set(toStems(query))];
  const worth = new Map(wanted.map((stem) => [stem, worthOf(stem, lines)]));
  const sum = (stems: ReadonlySet<string>) =>
    wanted.reduce((total, stem) => total + (stems.has(stem) ? (worth.get(stem) ?? 0) : 0), 0);
  return lines
    .map((line) => ({
      line,
      score: sum(line.stems) * (1 + sum(line.headingStems) / 10) + sum(line.headingStems) / 2,
    }))
    .filter(({ line, score }) => score > 0 && sum(line.stems) > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ line: { file, line, text } }) => ({ file, line, text }));
}

interface Searchable extends Hit {
  readonly stems: ReadonlySet<string>;
  readonly headingStems: ReadonlySet<string>;
}

function toSearchable({ file, title, lines }: Text): Searchable[] {
  let heading = title;
  return lines.flatMap((text, index) => {
    if (text.startsWith('#')) heading = `${title} ${text}`;
    if (text.trim() === '') return [];
    return [
      { file, line: index + 1, text, stems: new Set(toStems(text)), headingStems: new Set(toStems(heading)) },
    ];
  });
}

function worthOf(stem: string, lines: readonly Searchable[]): number {
  const having = lines.filter((line) => line.stems.has(stem)).length;
  return having === 0 ? 0 : Math.log(1 + lines.length / having);
}

/** Words without their English endings: `charged`, `charges` and `charge` are one. */
export function toStems(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length > 4 ? word.replace(/(?:ing|ed|es|s|e)$/, '') : word));
}

/** How the script understands language: significant words, and from search results the lines that answer. */

export interface Quotation {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

const PUBLISHING = /\b(?:publish|bulletin|announce|post (?:it|that)|put (?:it|that) up)/i;

/** Words without a topic, those of asking and publishing included. */
const EMPTY_WORDS = new Set(
  (
    'a about above all also am an and announce answer any are as ask at be because been board bulletin but by can could did ' +
    'do does don entry everyone exactly find for from get give had handbook has have how i if in into is it its know let line ' +
    'lines look many may me more much must my no not of on one or our out please post publish published put quote re read ' +
    'right said say says see sentence sentences short should so some something summary tell text texts than that the their ' +
    'them then there these they this those to two up us was we were what whats when where which who why will with would you your'
  ).split(' '),
);

export function isAboutPublishing(text: string): boolean {
  return PUBLISHING.test(text);
}

/** The significant words of a text, in order and once each; empty when there are none. */
export function findTopic(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? [];
  return [...new Set(words)].filter((word) => !EMPTY_WORDS.has(word)).join(' ');
}

/** From search_texts: its lines, best first. */
export function readHits(result: string): Quotation[] {
  const rows = [...result.matchAll(/^(\S+\.md):(\d+): (.*)$/gm)];
  return rows.map(([, file = '', line, text = '']) => ({ file, line: Number(line), text }));
}

/** The file whose lines rank highest together. */
export function bestFile(hits: readonly Quotation[]): string | undefined {
  const scores = new Map<string, number>();
  for (const [rank, { file }] of hits.entries()) scores.set(file, (scores.get(file) ?? 0) + 1 / (rank + 1));
  return [...scores].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** Up to four lines: the hits, best first; a heading of the text that was read is replaced by the lines below it. */
export function chooseQuotations(
  hits: readonly Quotation[],
  text: readonly Quotation[],
  limit = 4,
): Quotation[] {
  const lines = hits.flatMap((hit) => {
    if (!hit.text.startsWith('#')) return [hit];
    const heading = text.findIndex(({ file, line }) => file === hit.file && line === hit.line);
    if (heading <= 0) return [];
    const below = text.slice(heading + 1);
    const end = below.findIndex((line) => line.text.startsWith('#'));
    return below.slice(0, end < 0 ? undefined : end);
  });
  const once = new Map(lines.filter(isStatement).map((line) => [`${line.file}:${line.line}`, line]));
  return [...once.values()].slice(0, limit).map((line) => ({ ...line, text: withoutMarks(line.text) }));
}

/** From read_text: its lines, in order. */
export function readNumbered(file: string, result: string): Quotation[] {
  return [...result.matchAll(/^(\d+): ?(.*)$/gm)].map(([, line, text = '']) => ({
    file,
    line: Number(line),
    text,
  }));
}

function isStatement({ text }: Quotation): boolean {
  return text !== '' && !text.startsWith('#') && !text.startsWith('Owner:');
}

function withoutMarks(text: string): string {
  return text.replace(/^(?:- (?:\[ \] )?|\d+\. )/, '').replaceAll('**', '');
}

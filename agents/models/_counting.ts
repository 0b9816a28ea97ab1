/**
 * Questions that need counting: for each the program that the script writes, and how it phrases the
 * program's result. In tests and demos these stand for what a real model would write.
 */
import { findTopic } from './_reading.ts';

export interface Analysis {
  readonly source: string;
  /** From the result, as parsed from JSON. */
  tell(result: unknown): string;
}

/** As `wc -w` and `wc -l` count them. */
const COUNTS = {
  words: String.raw`lines.join(' ').split(/\s+/).filter(Boolean).length`,
  lines: 'lines.length',
} as const;

type Counts = readonly { readonly file: string; readonly count: number }[];

const FOR_EVER = /\b(?:count|run|loop|go on)\b.*\b(?:for ?ever|endless(?:ly)?|without end)\b/i;
const HOW_OFTEN = /\bhow (?:often|many times)\b.*\b(?:appears?|mention(?:s|ed)?|named?|occurs?|word)\b/i;
const EXTREME = /\b(longest|shortest)\b.*\btexts?\b|\btexts?\b.*\b(longest|shortest)\b/i;
const HOW_MANY = /\b(?:how many|count(?: all| each| every)?(?: the)?) (words|lines|texts)\b/i;

/** Undefined when the question is not about counting. */
export function findAnalysis(question: string): Analysis | undefined {
  if (FOR_EVER.test(question)) return countForEver();
  if (HOW_OFTEN.test(question)) return countMentions(findWord(question));
  const extreme = EXTREME.exec(question);
  if (extreme) return findExtreme(`${extreme[1] ?? extreme[2]}`.toLowerCase());
  const unit = HOW_MANY.exec(question)?.[1]?.toLowerCase();
  return unit === undefined ? undefined : countAll(unit === 'lines' ? 'lines' : 'words');
}

function countAll(unit: 'words' | 'lines'): Analysis {
  return {
    source: toProgram(COUNTS[unit]),
    tell(result) {
      const counts = result as Counts;
      const rows = counts.map(({ file, count }) => `- ${file}: ${count} ${unit}`);
      return `${rows.join('\n')}\n\nTogether ${sum(counts)} ${unit} in ${counts.length} texts.`;
    },
  };
}

function findExtreme(extreme: string): Analysis {
  return {
    source: toProgram(COUNTS.words),
    tell(result) {
      const counts = result as Counts;
      const [first, second] = extreme === 'longest' ? counts : counts.toReversed();
      return (
        `The ${extreme} text is ${first?.file}, with ${first?.count} words; next is ${second?.file}, with ` +
        `${second?.count}. All ${counts.length} texts together have ${sum(counts)} words.`
      );
    },
  };
}

function countMentions(word: string): Analysis {
  return {
    source: toProgram(`lines.join(' ').toLowerCase().split(${JSON.stringify(word)}).length - 1`),
    tell(result) {
      const counts = (result as Counts).filter(({ count }) => count > 0);
      const rows = counts.map(({ file, count }) => `- ${file}: ${count}`);
      return [`The handbook has "${word}" ${sum(counts)} times.`, rows.join('\n')]
        .filter(Boolean)
        .join('\n\n');
    },
  };
}

/** For trying out `everthread threads stop`. */
function countForEver(): Analysis {
  return {
    source: 'let count = 0;\nfor (;;) count += 1;\nexport default count;',
    tell: () => 'That should not have come to an end.',
  };
}

/** `count` is an expression over the `lines` of a text. */
function toProgram(count: string): string {
  return `import { list, read } from 'handbook';

const counts: { file: string; count: number }[] = [];
for (const { file } of await list()) {
  const lines = await read(file);
  counts.push({ file, count: ${count} });
}
export default counts.sort((a, b) => b.count - a.count);`;
}

/** The word in quotation marks, else the last significant one. */
function findWord(question: string): string {
  const quoted = /["“'‘]([^"”'’]+)["”'’]/.exec(question)?.[1];
  return (quoted ?? findTopic(question).split(' ').at(-1) ?? '').toLowerCase();
}

function sum(counts: Counts): number {
  return counts.reduce((total, { count }) => total + count, 0);
}

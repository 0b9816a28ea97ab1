/**
 * How many characters of a text make a token, by the script of the text: the assumption until a provider has counted
 * (model-count.ts). Long texts are sampled.
 */

/** The fewest and the most characters that a token is taken to have. */
export const RATIO = { least: 0.5, most: 8 } as const;

const [PROSE, CODE, ENCODED, WIDE, OTHER] = [4, 3, 1.5, 1, 2];
const SAMPLES = 128;

interface Sample {
  /** Ideographs, kana, syllables of Hangul, and halves of surrogate pairs. */
  wide: number;
  /** Letters of scripts other than the Latin one. */
  other: number;
  upper: number;
  lower: number;
  digits: number;
  marks: number;
  spaces: number;
}

/** Characters per token; 4 for an empty text. */
export function charactersPerToken(text: string): number {
  const sample = sampleOf(text);
  const { wide, other } = sample;
  const ascii = sample.upper + sample.lower + sample.digits + sample.marks + sample.spaces;
  const tokens = wide / WIDE + other / OTHER + ascii / asciiRatio(sample, ascii);
  return tokens === 0 ? PROSE : (wide + other + ascii) / tokens;
}

function asciiRatio({ upper, lower, digits, marks, spaces }: Sample, all: number): number {
  if (spaces < all / 50 && digits > all / 25 && upper > all / 10 && lower > all / 10) return ENCODED;
  return digits + marks > all / 6 ? CODE : PROSE;
}

function sampleOf(text: string): Sample {
  const sample: Sample = { wide: 0, other: 0, upper: 0, lower: 0, digits: 0, marks: 0, spaces: 0 };
  const step = Math.max(1, Math.floor(text.length / SAMPLES));
  for (let at = 0; at < text.length; at += step) sample[kindOf(text.charCodeAt(at))] += 1;
  return sample;
}

function kindOf(unit: number): keyof Sample {
  if (unit <= 0x20) return 'spaces';
  if (unit < 0x80) return asciiKind(unit);
  if (unit < 0x250) return 'lower';
  if (unit < 0x2000) return 'other';
  if (unit < 0x2e80) return 'marks';
  return unit < 0xfb00 || unit >= 0xff00 ? 'wide' : 'other';
}

function asciiKind(unit: number): keyof Sample {
  if (unit >= 0x61 && unit <= 0x7a) return 'lower';
  if (unit >= 0x41 && unit <= 0x5a) return 'upper';
  return unit >= 0x30 && unit <= 0x39 ? 'digits' : 'marks';
}

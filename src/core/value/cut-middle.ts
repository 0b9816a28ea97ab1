/** Shortens a text by its middle: what a text is about stands at its begin, and how it ended at its end. */

const ELLIPSIS = ' … ';

/**
 * Returns at most `most` characters. `mark` stands where the text is cut, and gets the number of characters that are left out,
 * those of the mark not counted. The same text and length give the same cut. Surrogate pairs stay whole.
 */
export function cutMiddle(
  text: string,
  most: number,
  mark: (omitted: number) => string = () => ELLIPSIS,
): string {
  if (text.length <= most) return text;
  const room = Math.max(0, most - mark(text.length).length);
  const tail = Math.floor(room / 3);
  const head = startOfCharacter(text, room - tail);
  const rest = tail > 0 ? endOfCharacter(text, text.length - tail) : text.length;
  return `${text.slice(0, head)}${mark(rest - head)}${text.slice(rest)}`;
}

const splitsPair = (text: string, at: number) => {
  const unit = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit < 0xe000 && before >= 0xd800 && before < 0xdc00;
};

const startOfCharacter = (text: string, at: number) => (splitsPair(text, at) ? at - 1 : at);
const endOfCharacter = (text: string, at: number) => (splitsPair(text, at) ? at + 1 : at);

/** Maximum length of each, so that all together have at most `total`: room that short ones leave goes to long ones. */
export function fairShare(lengths: readonly number[], total: number): number {
  const sorted = [...lengths].sort((a, b) => a - b);
  let left = total;
  for (const [index, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - index));
    if (length > share) return Math.max(1, share);
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}

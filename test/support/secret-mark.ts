/** Finds a secret that has got out: every value of such a test holds one word that is nowhere else, so a piece of one is found too. */
export const MARK = 'swordfish';

/** MARK as it is, and in base64 wherever it begins. */
export function findMarks(bytes: Buffer | string): string[] {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1');
  const base64 = [0, 1, 2].map((before) =>
    Buffer.from(`${'\0'.repeat(before)}${MARK}`)
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + MARK.length) * 8) / 6)),
  );
  return [MARK, ...base64].filter((mark) => text.includes(mark));
}

/** Payloads stand in a history as base64: they are searched as what they say. */
export function payloadsOf(value: unknown): Buffer[] {
  if (value instanceof Uint8Array) return [Buffer.from(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(payloadsOf) : [];
}

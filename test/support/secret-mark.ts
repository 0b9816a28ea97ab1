/**
 * Finds leaked secrets: every secret value of such a test contains one word that occurs nowhere else, so a part of it
 * is found too.
 */
export const MARK = 'swordfish';

/** Finds MARK as plain text and in base64, at any offset. */
export function findMarks(bytes: Buffer | string): string[] {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1');
  const base64 = [0, 1, 2].map((before) =>
    Buffer.from(`${'\0'.repeat(before)}${MARK}`)
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + MARK.length) * 8) / 6)),
  );
  return [MARK, ...base64].filter((mark) => text.includes(mark));
}

/** Returns the decoded payloads of a history, which holds them in base64. */
export function payloadsOf(value: unknown): Buffer[] {
  if (value instanceof Uint8Array) return [Buffer.from(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(payloadsOf) : [];
}

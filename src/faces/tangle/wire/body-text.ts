/** Reads bodies of responses up to a bound, because servers are not trusted to end them. */
const DECODER = () => new TextDecoder();

export interface BodyText {
  readonly text: string;
  /** True if the body was longer. */
  readonly cut: boolean;
}

/** The first `bytes` of a body; the rest of it is not read. */
export async function readBody(response: Response, bytes: number): Promise<BodyText> {
  const reader = response.body?.getReader();
  if (!reader) return { text: '', cut: false };
  const decoder = DECODER();
  let text = '';
  let left = bytes;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), cut: false };
    text += decoder.decode(value.subarray(0, left), { stream: true });
    left -= value.length;
    if (left >= 0) continue;
    // Not awaited: a body that hangs would hang here too.
    reader.cancel().catch(() => undefined);
    return { text, cut: true };
  }
}

/** Greatest number of bytes of a body that an error includes: 2 KiB. */
const EXCERPT_BYTES = 2048;

/** Returns the beginning of the body of a refusal, followed by `…` if there was more. */
export async function excerptOf(response: Response): Promise<string> {
  try {
    const { text, cut } = await readBody(response, EXCERPT_BYTES);
    return cut ? `${text}…` : text;
  } catch {
    // The body cannot be read; the status of the refusal is enough.
    return '';
  }
}

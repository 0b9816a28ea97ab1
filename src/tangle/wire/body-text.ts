/** Bodies of responses, up to a bound: whoever answers is not trusted to end. */
const DECODER = () => new TextDecoder();

export interface BodyText {
  readonly text: string;
  /** There was more. */
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

/** 2 KiB, and how many there may be of what is told in an error. */
const EXCERPT_BYTES = 2048;

/** Of a refusal: what is read of its body at most, with a mark where there was more. */
export async function excerptOf(response: Response): Promise<string> {
  try {
    const { text, cut } = await readBody(response, EXCERPT_BYTES);
    return cut ? `${text}…` : text;
  } catch {
    // Its status matters more.
    return '';
  }
}

/**
 * How much of a model's window a text takes, by rule of thumb: providers count tokens in ways of their own, and tell only
 * afterwards. Four characters a token holds for English; code and other scripts take more, which is why a window is never
 * filled to the last token by a request that matters.
 */
import type { ContextMessage } from './context.ts';
import { isImageType } from './mime-type.ts';

const CHARACTERS = 4;
const IMAGE = 1000;
/** Of a file that is named and not shown. */
const LINE = 40;
/** Roles and separators. */
const MESSAGE = 4;

export function estimateText(text: string | null | undefined): number {
  return Math.ceil((text?.length ?? 0) / CHARACTERS);
}

type Counted = Pick<ContextMessage, 'role' | 'content' | 'tool_calls' | 'attachments'>;

/** `past`: without its calls, as `includePastTools` false leaves it. `recent`: its images are shown. */
export function estimateMessage(
  { content, tool_calls: calls, attachments }: Counted,
  { past, recent }: { readonly past: boolean; readonly recent: boolean },
): number {
  const files = (attachments ?? []).map(({ mimeType }) => (recent && isImageType(mimeType) ? IMAGE : LINE));
  return files.reduce(
    (sum, each) => sum + each,
    MESSAGE + estimateText(content) + (past ? 0 : estimateText(calls)),
  );
}

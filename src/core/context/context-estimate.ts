/**
 * Estimates how many tokens of a model's window a text takes. Providers count differently, and report only afterwards. Four
 * characters per token holds for English; code and other scripts take more, which is why requests that matter never fill a window to
 * the last token.
 */

import { isImageType } from '../file/mime-type.ts';
import type { ContextMessage } from './context.ts';

const CHARACTERS = 4;
const IMAGE = 1000;
/** Tokens of the line for a file that is named and not shown. */
const LINE = 40;
/** Tokens of a message's role and separators. */
const MESSAGE = 4;

export function estimateText(text: string | null | undefined): number {
  return Math.ceil((text?.length ?? 0) / CHARACTERS);
}

type Counted = Pick<ContextMessage, 'role' | 'content' | 'tool_calls' | 'attachments' | 'parts'>;

/** `past`: tool calls are left out, as with `includePastTools: false`. `recent`: the message's images are shown. `own`: the message
 * is of the running execution, whose answers keep their parts. */
export function estimateMessage(
  { content, tool_calls: calls, attachments, parts }: Counted,
  { past, recent, own }: { readonly past: boolean; readonly recent: boolean; readonly own?: boolean },
): number {
  const files = (attachments ?? []).map(({ mimeType }) => (recent && isImageType(mimeType) ? IMAGE : LINE));
  return files.reduce(
    (sum, each) => sum + each,
    MESSAGE + estimateText(content) + (past ? 0 : estimateText(calls)) + (own ? estimateText(parts) : 0),
  );
}

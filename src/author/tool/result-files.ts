/**
 * Stores the files of a tool's result (definitions §8) before the result. The tool has run: files that cannot be stored, or a text
 * that is too long for a message, never change the outcome. One line of the text says what is missing.
 */

import type { AttachmentRef, ToolResult } from '../../core/message/message.ts';
import { cutMiddle } from '../../core/value/cut-middle.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { LIMITS, utf8Length } from '../../core/value/limit.ts';
import type { ThreadStore } from '../../store/store.ts';
import { storeAttachments } from '../state/attachments.ts';
import { createIds } from '../state/id.ts';
import { withLine } from './tool-result.ts';
import { storeWhole } from './whole-result.ts';

export interface ResultWithFiles {
  readonly result: ToolResult;
  readonly attachments: readonly AttachmentRef[];
}

/** The text of a result that is files alone: without one, the model would read that there is nothing. */
const FILES_ALONE = 'The tool succeeded. Its result is attached.';

export interface CallPlace {
  readonly threadId: string;
  /** Identifies the call within its thread. */
  readonly key: string;
  readonly callId: string;
}

export async function storeResultFiles(
  store: ThreadStore,
  place: CallPlace,
  result: ToolResult,
): Promise<ResultWithFiles> {
  const { threadId, key } = place;
  const { attachments: given, ...rest } = result;
  const bare = await withinLimit(store, place, rest);
  if (given === undefined) return { result: bare, attachments: [] };
  try {
    const nextId = createIds(store, `${threadId}:${key}:file`);
    const attachments = await storeAttachments({ store, threadId, nextId }, given);
    const isFiles = attachments.length > 0 && bare.status === 'success' && !bare.result;
    return { result: isFiles ? { ...bare, result: FILES_ALONE } : bare, attachments };
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    const line = `The attachments could not be stored: ${error.message}`;
    return { result: withLine(bare, line), attachments: [] };
  }
}

/** Cuts the texts of a result to what a message may hold. What is cut is kept whole as a file. */
async function withinLimit(
  store: Pick<ThreadStore, 'files'>,
  { threadId, callId }: CallPlace,
  result: ToolResult,
): Promise<ToolResult> {
  const cut: [string, string][] = [];
  for (const field of ['result', 'error', 'error_code'] as const) {
    const text = result[field];
    if (text === undefined || fits(text)) continue;
    cut.push([field, cutToFit(text, await storeWhole(store, threadId, callId, text))]);
  }
  const bare = cut.length === 0 ? result : { ...result, ...Object.fromEntries(cut) };
  if (bare.error_data === undefined || fits(JSON.stringify(bare.error_data))) return bare;
  const { error_data: _, ...rest } = bare;
  return withLine(rest, 'The details of the error were too large to keep.');
}

/** Room for the line that says what is missing. */
const ROOM = 4096;
const MAX_BYTES = LIMITS.contentBytes - ROOM;

function fits(text: string): boolean {
  return text.length * 3 <= MAX_BYTES || utf8Length(text) <= MAX_BYTES;
}

/** `path`: the file that has the whole text, if it could be stored. */
function cutToFit(text: string, path: string | undefined): string {
  const whole = path === undefined ? '' : ` The whole text is in the file ${path}.`;
  const omission = (characters: number) => `\n(${characters} characters are left out here.${whole})\n`;
  // In proportion to its bytes: a character has one to three of them.
  const cut = cutMiddle(text, Math.floor((text.length * MAX_BYTES) / utf8Length(text)), omission);
  // What is left may be of longer characters than the rest.
  return fits(cut) ? cut : cutMiddle(text, Math.floor(MAX_BYTES / 3), omission);
}

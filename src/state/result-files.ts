/**
 * Stores the files of a tool's result (definitions §8) before the result. The tool has run: files that cannot be stored, or a text
 * that is too long for a message, never change the outcome. One line of the text says what is missing.
 */

import type { AttachmentRef, ToolResult } from '../core/message/message.ts';
import { cutMiddle } from '../core/value/cut-middle.ts';
import { isRuntimeError, isStoreFault } from '../core/value/error.ts';
import { LIMITS, utf8Length } from '../core/value/limit.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { storeAttachments } from './attachments.ts';
import { createIds } from './id.ts';
import { withLine } from './tool-result.ts';

export interface ResultWithFiles {
  readonly result: ToolResult;
  readonly attachments: readonly AttachmentRef[];
}

/** `key` identifies the call within its thread. */
export async function storeResultFiles(
  store: ThreadStore,
  threadId: string,
  key: string,
  result: ToolResult,
): Promise<ResultWithFiles> {
  const { attachments: given, ...bare } = result;
  if (given === undefined) return { result: withinLimit(bare), attachments: [] };
  try {
    const nextId = createIds(store, `${threadId}:${key}:file`);
    return {
      result: withinLimit(bare),
      attachments: await storeAttachments({ store, threadId, nextId }, given),
    };
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    const line = `The attachments could not be stored: ${error.message}`;
    return { result: withLine(withinLimit(bare), line), attachments: [] };
  }
}

/** Cuts the texts of a result to what a message may hold. */
function withinLimit(result: ToolResult): ToolResult {
  const cut = (['result', 'error', 'error_code'] as const).flatMap((field) => {
    const text = result[field];
    return text === undefined || fits(text) ? [] : [[field, cutToFit(text)]];
  });
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

const omission = (characters: number) => `\n(${characters} characters are left out here.)\n`;

function cutToFit(text: string): string {
  // In proportion to its bytes: a character has one to three of them.
  const cut = cutMiddle(text, Math.floor((text.length * MAX_BYTES) / utf8Length(text)), omission);
  // What is left may be of longer characters than the rest.
  return fits(cut) ? cut : cutMiddle(text, Math.floor(MAX_BYTES / 3), omission);
}

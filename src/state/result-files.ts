/**
 * Stores the files of a tool's result (definitions §8) before the result; if that fails, the result becomes an error.
 */

import type { AttachmentRef, ToolResult } from '../core/message/message.ts';
import { isRuntimeError, isStoreFault } from '../core/value/error.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { storeAttachments } from './attachments.ts';
import { createIds } from './id.ts';

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
  if (given === undefined) return { result, attachments: [] };
  try {
    const nextId = createIds(store, `${threadId}:${key}:file`);
    return { result: bare, attachments: await storeAttachments({ store, threadId, nextId }, given) };
  } catch (error) {
    // The tool has run: the model must learn that its files are missing, and what it returned.
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    const returned = bare.result === undefined ? '' : ` It returned: ${bare.result}`;
    return {
      result: {
        status: 'error',
        error: `The result's attachments could not be stored: ${error.message}${returned}`,
      },
      attachments: [],
    };
  }
}

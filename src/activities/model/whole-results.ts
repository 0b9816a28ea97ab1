/**
 * Stores results whole that a request shows cut, where the agent lists a tool that can read them.
 * R1. A result is stored once: the same text of the same call keeps its file, whatever step asks for it.
 * R2. A file that cannot be stored never holds up the request, which then says that the rest cannot be read.
 */
import { createHash } from 'node:crypto';
import type { ToolMessage } from '../../core/context/fit-messages.ts';
import { textsOf } from '../../core/context/message-text.ts';
import type { ProviderMessage, ProviderTool } from '../../core/message/provider.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';

/** A tool that reads files, by its name: `read_file`, `grepFiles`, `files.open`. */
const FILE_TOOL = /file/i;
const READING = /read|open|view|show|cat|get|load|search|find|grep/i;

export function listsFileTool(tools: readonly ProviderTool[] = []): boolean {
  return tools.some(({ function: { name } }) => FILE_TOOL.test(name) && READING.test(name));
}

/** Characters below which no result is cut. */
const SHORT = 200;

export function mayBeCut(message: ProviderMessage): boolean {
  return message.role === 'tool' && textsOf(message).some(({ length }) => length > SHORT);
}

export interface WholeResults {
  /** The file of a result; undefined if it has none. */
  readonly nameOf: (result: ToolMessage) => string | undefined;
  readonly store: (results: readonly ToolMessage[]) => Promise<void>;
}

export function nameWholeResults(store: Pick<ThreadStore, 'files'>, threadId: string): WholeResults {
  const paths = new Map<string, string | undefined>();
  const keyOf = (result: ToolMessage) => `${result.toolCallId} ${textsOf(result).join('\n')}`;
  return {
    nameOf: (result) => (paths.size === 0 ? undefined : paths.get(keyOf(result))),
    async store(results) {
      for (const each of results)
        if (!paths.has(keyOf(each))) paths.set(keyOf(each), await storeWhole(store, threadId, each));
    },
  };
}

/** R1: the path of its file; undefined if it cannot be stored. */
async function storeWhole(
  { files }: Pick<ThreadStore, 'files'>,
  threadId: string,
  result: ToolMessage,
): Promise<string | undefined> {
  const content = new TextEncoder().encode(textsOf(result).join('\n'));
  const digest = createHash('sha256').update(content).digest('hex');
  const name = result.toolCallId.replaceAll(/[^\w.-]/g, '_').slice(0, 100);
  try {
    // A provider may use the id of a call again.
    for (const path of [`/results/${name}.txt`, `/results/${name}-${digest.slice(0, 16)}.txt`]) {
      const found = await files.stat(threadId, path);
      if (found?.metadata?.digest === digest) return path;
      if (found) continue;
      await files.write(threadId, { path, content, mimeType: 'text/plain', metadata: { digest } });
      return path;
    }
  } catch (error) {
    // R2: it is missing.
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
  }
  return undefined;
}

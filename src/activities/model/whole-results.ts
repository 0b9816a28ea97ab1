/**
 * Stores results whole that a request shows cut, where the agent lists a tool that can read them. If a file cannot be
 * stored, the request says that the rest cannot be read.
 */
import type { ToolMessage } from '../../core/context/fit-messages.ts';
import { textsOf } from '../../core/context/message-text.ts';
import type { ProviderMessage, ProviderTool } from '../../core/message/provider.ts';
import { storeWhole } from '../../state/whole-result.ts';
import type { ThreadStore } from '../../store/store.ts';

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
        if (!paths.has(keyOf(each)))
          paths.set(
            keyOf(each),
            await storeWhole(store, threadId, each.toolCallId, textsOf(each).join('\n')),
          );
    },
  };
}

/** Tells the events of a thread to a person: the answer as it streams, each tool call with its arguments. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Message, ToolCall } from '../../src/core/message.ts';
import type { ThreadEvent } from '../../src/store/port/thread-store.ts';
import type { Screen } from './screen.ts';

/** Characters of a call's arguments that are shown. */
const ARGUMENTS = 58;

export function createNarrator(screen: Screen, client: RuntimeClient, threadId: string) {
  /** Arguments of the calls that have not been told, by call id. */
  const calls = new Map<string, string>();
  let forgotten = 0;

  async function learnCalls(messageId: unknown): Promise<void> {
    const message = await client.getMessage(threadId, String(messageId));
    for (const call of toToolCalls(message)) calls.set(call.id, call.function.arguments);
  }

  function tellProgram(given: string): void {
    screen.say('tool', 'analyze_texts begins: a program that the model wrote just now runs in the sandbox');
    screen.block(readSource(given));
  }

  /** What the hook forget_old_texts emits with each request: told when it changes. */
  function tellForgetting({ data }: ThreadEvent['data']): void {
    const texts = Number((data as { texts?: unknown } | null)?.texts);
    if (texts === forgotten) return;
    forgotten = texts;
    const what = texts === 1 ? 'a text' : `${texts} texts`;
    screen.say('hook', `forget_old_texts keeps ${what} of earlier questions out of what the model is asked`);
  }

  return async ({ type, data }: ThreadEvent): Promise<void> => {
    const given = calls.get(String(data.callId)) ?? '';
    const call = `${String(data.name)} ${shorten(given)}`;
    switch (type) {
      case 'model.chunk':
        return screen.stream('librarian', String(data.delta));
      case 'step.committed':
        screen.endStream();
        return learnCalls(data.messageId);
      case 'tool.started':
        if (isProgram(data.name)) return tellProgram(given);
        // Quick ones are told when they are done.
        return data.name === 'publish_summary' ? screen.say('tool', `${call} begins`) : undefined;
      case 'tool.result':
        return screen.say('tool', `${isProgram(data.name) ? data.name : call} → ${String(data.status)}`);
      case 'effect.started':
        return screen.say('effect', `${String(data.name)} fires`);
      case 'custom':
        return tellForgetting(data);
      case 'model.failed':
      case 'step.failed':
        return screen.say('note', `${type}: ${String(data.message)}`);
      default:
        return undefined;
    }
  };
}

function isProgram(tool: unknown): boolean {
  return tool === 'analyze_texts';
}

/** A model's arguments may be anything. */
function readSource(given: string): string {
  try {
    return String((JSON.parse(given) as { source?: unknown }).source);
  } catch {
    return given;
  }
}

export function toToolCalls(message: Message | null): ToolCall[] {
  return message?.tool_calls ? (JSON.parse(message.tool_calls) as ToolCall[]) : [];
}

export function shorten(text: string, length = ARGUMENTS): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

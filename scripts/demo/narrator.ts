/** Shows the events of a thread to people: the answer as it streams, each tool call with its arguments. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { EventData, ThreadEvent } from '../../src/core/event/thread-event.ts';
import type { Message, ToolCall } from '../../src/core/message/message.ts';
import type { Screen, Speaker } from './screen.ts';

/** Characters of a call's arguments that are shown. */
const ARGUMENTS = 58;

export function createNarrator(
  screen: Screen,
  client: RuntimeClient,
  threadId: string,
  speaker: Speaker = 'librarian',
) {
  /** Arguments of the calls that have not been shown, by call id. */
  const calls = new Map<string, string>();
  let forgotten = 0;

  async function learnCalls(messageId: string): Promise<void> {
    const message = await client.getMessage(threadId, messageId);
    for (const call of toToolCalls(message)) calls.set(call.id, call.function.arguments);
  }

  function tellProgram(given: string): void {
    screen.say('tool', 'analyze_texts begins: a program that the model wrote just now runs in the sandbox');
    screen.block(readSource(given));
  }

  /** Shows the event that the hook forget_old_texts emits with each request, if its number has changed. */
  function tellForgetting({ data }: EventData['custom']): void {
    const texts = Number((data as { texts?: unknown } | null)?.texts);
    if (texts === forgotten) return;
    forgotten = texts;
    const what = texts === 1 ? 'a text' : `${texts} texts`;
    screen.say('hook', `forget_old_texts keeps ${what} of earlier questions out of what the model is asked`);
  }

  function tellStart({ name, callId }: EventData['tool.started']): void {
    const given = calls.get(callId) ?? '';
    if (isProgram(name)) tellProgram(given);
    // Quick calls are shown only when they are done.
    else if (name === 'publish_summary') screen.say('tool', `${name} ${shorten(given)} begins`);
  }

  function tellResult({ name, callId, status }: EventData['tool.result']): void {
    const what = isProgram(name) ? name : `${name} ${shorten(calls.get(callId) ?? '')}`;
    screen.say('tool', `${what} → ${status}`);
  }

  return async (event: ThreadEvent): Promise<void> => {
    switch (event.type) {
      case 'model.chunk':
        return screen.stream(speaker, event.data.delta);
      case 'step.committed':
        screen.endStream();
        return learnCalls(event.data.messageId);
      case 'tool.started':
        return tellStart(event.data);
      case 'tool.result':
        return tellResult(event.data);
      case 'wait.opened':
        return screen.say('waits', `for an approval of ${event.data.name}`);
      case 'wait.answered':
        return screen.say(
          'back',
          `${event.data.by ?? 'somebody'} has decided: ${event.data.approved ? 'approved' : 'refused'}`,
        );
      case 'effect.started':
        return screen.say('effect', `${event.data.name} fires`);
      case 'custom':
        return tellForgetting(event.data);
      case 'model.failed':
      case 'step.failed':
        return screen.say('note', `${event.type}: ${event.data.message}`);
      default:
        return undefined;
    }
  };
}

function isProgram(tool: string): boolean {
  return tool === 'analyze_texts';
}

/** Returns a call's program; arguments of any other shape are returned as they are. */
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

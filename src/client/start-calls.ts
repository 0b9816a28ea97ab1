/** Calls of tools, and their results, in the conversation that a thread begins with: nothing is run again. */
import type { MadeCalls } from '../core/thread/item.ts';
import { RuntimeError } from '../core/value/error.ts';
import { measureJson } from '../core/value/json-measure.ts';
import { LIMITS } from '../core/value/limit.ts';

/** A call that was made before the thread began. */
export interface StartCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

export interface StartCalls {
  /** As in `OutgoingMessage`; or `tool`: the result of an earlier message's call, which may be empty. */
  readonly role?: 'user' | 'assistant' | 'tool';
  /** Calls of an assistant's message, whose content may then be empty. */
  readonly toolCalls?: readonly StartCall[];
  /** The call that a result answers; required with the role `tool`. */
  readonly toolCallId?: string;
  /** Name of the tool that a result is from. */
  readonly toolName?: string;
  /** True for the result of a call that has failed. */
  readonly failed?: boolean;
}

/** Returns the fields of an item; none for an ordinary message. Throws `InvalidMessage`. */
export function readCalled({ role, toolCalls, toolCallId, toolName = '', failed }: StartCalls): MadeCalls {
  if (role === 'tool') {
    if (!isText(toolCallId, LIMITS.callIdChars))
      throw invalid(`A result needs a "toolCallId" of at most ${LIMITS.callIdChars} characters.`);
    return { toolCallId, toolName, toolStatus: failed === true ? 'error' : 'success' };
  }
  if (toolCallId !== undefined) throw invalid('Only a message of the role "tool" may have a "toolCallId".');
  if (toolCalls === undefined || toolCalls.length === 0) return {};
  if (role !== 'assistant') throw invalid('Only a message of the role "assistant" may have "toolCalls".');
  if (!toolCalls.every(isCall) || toolCalls.length > LIMITS.answerCalls)
    throw invalid(
      `"toolCalls" must be a list of at most ${LIMITS.answerCalls} calls, { id, name, arguments }, with texts as JSON.`,
    );
  const deep = toolCalls.find(({ arguments: given }) => isTooDeep(given));
  if (deep)
    throw invalid(
      `The arguments of the call "${deep.id}" are nested deeper than ${LIMITS.jsonDepth} levels.`,
    );
  return {
    toolCalls: toolCalls.map(({ id, name, arguments: given }) => ({
      id,
      type: 'function',
      function: { name, arguments: given },
    })),
  };
}

function isCall(call: StartCall): boolean {
  return (
    isText(call?.id, LIMITS.callIdChars) &&
    isText(call.name, LIMITS.callNameChars) &&
    typeof call.arguments === 'string'
  );
}

/** Deeper values would exhaust the stack of what writes a request. A text that is no JSON stays as it is. */
function isTooDeep(text: string): boolean {
  try {
    const maxDepth = LIMITS.jsonDepth;
    return measureJson(JSON.parse(text), { maxDepth }).depth > maxDepth;
  } catch {
    return false;
  }
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= most;
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidMessage', message);
}

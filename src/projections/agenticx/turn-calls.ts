/**
 * Calls of tools: by the agent, by its prompts and by people. A call is always emitted before its result. For a refused
 * call an `error` is emitted, too, which does not end the turn.
 */
import { parseRecord } from '../../core/value/record.ts';
import type { OpenTurn } from './agenticx-state.ts';
import type { TurnHandlers, TurnTransition } from './turn-handler.ts';

export const CALL_HANDLERS: TurnHandlers = {
  'tool.called': (turn, { data: { name, callId, depth } }) => {
    const { [callId]: given = '{}', ...left } = turn.arguments;
    const calls = { ...turn.calls, [callId]: { name, given } };
    const own = depth === undefined && !turn.tools.includes(name) ? [...turn.tools, name] : turn.tools;
    const called = { name, arguments: parseRecord(given) ?? {}, tool_call_id: callId };
    return [{ ...turn, arguments: left, calls, tools: own }, [{ type: 'tool_call', data: called }]];
  },
  'tool.result': (turn, { data: { callId, status, refused } }) =>
    finishCall(turn, callId, { failed: status === 'error', refused }),
  'tool.unknown': (turn, { data: { callId } }) => finishCall(turn, callId, { failed: true }),
  'tool.removed': (turn, { data: { callId } }) => [removeCall(turn, callId), []],
};

function finishCall(
  turn: OpenTurn,
  callId: string,
  { failed, refused = false }: { readonly failed: boolean; readonly refused?: boolean | undefined },
): TurnTransition {
  const call = turn.calls[callId];
  if (!call) return [turn, []];
  const text = turn.said?.content ?? '';
  const result = { name: call.name, result: text, tool_call_id: callId, is_error: failed };
  return [
    removeCall(turn, callId),
    [
      ...(refused && !call.declined
        ? [{ type: 'error', data: { text, terminal: false, tool_call_id: callId } } as const]
        : []),
      { type: 'tool_result', data: result },
    ],
  ];
}

function removeCall(turn: OpenTurn, callId: string): OpenTurn {
  const { [callId]: _, ...calls } = turn.calls;
  return { ...turn, calls };
}

/** Subagents of the turn's agent. Their own work is in the logs of their threads, as separate turns. */
import type { TurnHandlers } from './turn-handler.ts';

export const SUBAGENT_HANDLERS: TurnHandlers = {
  'subagent.created': (turn, { data: { childId, agent, name, callId } }) => {
    const task = callId === undefined ? '' : (turn.calls[callId]?.given ?? '');
    const data = {
      ...subagentFields(childId, name ?? agent),
      role: agent,
      task,
      status: 'running',
      mode: 'session',
    } as const;
    return [turn, [{ type: 'subagent_started', data }]];
  },
  'subagent.status': (turn, { data: { childId, status } }) => [
    turn,
    [{ type: 'subagent_progress', data: { agent_id: childId, text: status } }],
  ],
  'subagent.returned': (turn, { data: { childId, agent } }) => [
    turn,
    [
      {
        type: 'subagent_completed',
        data: { ...subagentFields(childId, agent), status: 'completed', summary: turn.said?.content ?? '' },
      },
    ],
  ],
  'subagent.failed': (turn, { data: { childId, agent, kind } }) => [
    turn,
    [
      {
        type: 'subagent_error',
        data: { ...subagentFields(childId, agent), status: kind, summary: turn.said?.content ?? '' },
      },
    ],
  ],
};

const subagentFields = (childId: string, name: string) => ({ agent_id: childId, name });

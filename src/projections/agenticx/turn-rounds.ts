/** Rounds: the steps of the agent's own. */
import type { Checkpoint } from './agenticx-event.ts';
import type { OpenTurn } from './agenticx-state.ts';
import type { TurnDraft, TurnHandlers, TurnOf } from './turn-handler.ts';

/** Rounds between two checkpoints. */
const EVERY = 8;
/** Names of tools that a checkpoint tells. */
const TOOLS = 10;

export const ROUND_HANDLERS: TurnHandlers = {
  'step.started': (turn, { data: { depth } }, of) => {
    if (depth !== undefined) return [turn, []];
    const over = turn.round;
    const next = { ...turn, round: over + 1 };
    const began = { type: 'round_start', data: { round: next.round, max_rounds: turn.maxRounds } } as const;
    return [next, [began, ...toCheckpoint(turn, of)]];
  },
  // Of sub-prompts nothing is an answer to the user.
  'model.chunk': (turn, { data: { delta, depth } }) => [
    turn,
    depth === undefined ? [{ type: 'token', data: { text: delta } }] : [],
  ],
  'model.waiting': (turn) => [turn, [{ type: 'token', data: { text: WAITING, waiting: true } }]],
  'attempt.discarded': (turn, { data: { reason, depth } }) => [
    turn,
    depth === undefined ? [discarded(reason)] : [],
  ],
  'step.committed': (turn, { data: { messageId, depth } }) => {
    if (depth !== undefined) return [turn, []];
    const content = turn.said?.id === messageId ? turn.said.content : null;
    return [{ ...turn, answer: content ?? '' }, []];
  },
  'context.compacted': (turn, { data: { covered, summary } }) => [
    turn,
    [{ type: 'compaction', data: { compacted_count: covered, summary } }],
  ],
  'file.created': (turn) => [{ ...turn, artifacts: turn.artifacts + 1 }, []],
};

/** A sign, and no part of any text. */
const WAITING = '\u23f3';

function discarded(reason: string): TurnDraft {
  const text = `What was streamed of this answer is void: ${reason}`;
  return { type: 'error', data: { text, terminal: false, discarded: true } };
}

/** As the page tells it: in words, too. */
export function checkpoint(turn: OpenTurn, { agentId }: TurnOf, text: string): Checkpoint {
  const { round, maxRounds, tools } = turn;
  return { agent_id: agentId, round, max_rounds: maxRounds, executed_tools: tools.slice(-TOOLS), text };
}

function toCheckpoint(turn: OpenTurn, of: TurnOf): readonly TurnDraft[] {
  if (!of.subagent || turn.round === 0 || turn.round % EVERY !== 0) return [];
  const text = `${turn.round} rounds are over`;
  return [
    { type: 'subagent_checkpoint', data: { ...checkpoint(turn, of, text), artifact_count: turn.artifacts } },
  ];
}

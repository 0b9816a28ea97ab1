/** Rounds: the steps of the agent itself, not of its sub-prompts. */
import type { Checkpoint } from './agenticx-event.ts';
import type { OpenTurn } from './agenticx-state.ts';
import type { TurnAgent, TurnDraft, TurnHandlers } from './turn-handler.ts';

/** Number of rounds between two checkpoints. */
const CHECKPOINT_ROUNDS = 8;
/** Greatest number of tools that a checkpoint names. */
const MAX_CHECKPOINT_TOOLS = 10;

export const ROUND_HANDLERS: TurnHandlers = {
  'step.started': (turn, { data: { depth } }, of) => {
    if (depth !== undefined) return [turn, []];
    const over = turn.round;
    const next = { ...turn, round: over + 1 };
    const began = { type: 'round_start', data: { round: next.round, max_rounds: turn.maxRounds } } as const;
    return [next, [began, ...toCheckpoint(turn, of)]];
  },
  // Text of a sub-prompt is no answer to the user.
  'model.chunk': (turn, { data: { delta, depth } }) => [
    turn,
    depth === undefined && delta !== '' ? [{ type: 'token', data: { text: delta } }] : [],
  ],
  'model.waiting': (turn) => [turn, [{ type: 'token', data: { text: '', waiting: true } }]],
  'attempt.discarded': (turn, { data: { reason, depth } }) => [
    turn,
    depth === undefined ? [discardedDraft(reason)] : [],
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

function discardedDraft(reason: string): TurnDraft {
  const text = `The text streamed for this answer is void: ${reason}`;
  return { type: 'error', data: { text, terminal: false, discarded: true } };
}

/** Builds a checkpoint with the fields of the page; `text` describes it in words. */
export function checkpoint(turn: OpenTurn, { agentId }: TurnAgent, text: string): Checkpoint {
  const { round, maxRounds, tools } = turn;
  return {
    agent_id: agentId,
    round,
    max_rounds: maxRounds,
    executed_tools: tools.slice(-MAX_CHECKPOINT_TOOLS),
    text,
  };
}

function toCheckpoint(turn: OpenTurn, of: TurnAgent): readonly TurnDraft[] {
  if (!of.subagent || turn.round === 0 || turn.round % CHECKPOINT_ROUNDS !== 0) return [];
  const text = `${turn.round} rounds are complete`;
  return [
    { type: 'subagent_checkpoint', data: { ...checkpoint(turn, of, text), artifact_count: turn.artifacts } },
  ];
}

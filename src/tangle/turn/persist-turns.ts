/**
 * Keeps what chat turns have said, in the product's own database: a hook of the agent that answers, so it runs wherever its worker does, whoever
 * listens.
 * P1. A turn is complete for its readers once it is kept (core/thread/turn-mark.ts), and has failed where it could not be.
 * P2. It may run again where a worker is lost: the key is the same then.
 */
import type { HookDefinition } from '../../core/author/hook.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import { itemIdOf } from '../../core/thread/execution-id.ts';
import { TURN_BEGUN, TURN_KEPT, TURN_METADATA } from '../../core/thread/turn-mark.ts';
import { errorMessage } from '../../core/value/error.ts';
import { defineHook } from '../../definitions/index.ts';
import type { ChatTurnIdentity } from '../../projections/tangle/chat-turn.ts';

export interface FinishedTurn {
  readonly identity: ChatTurnIdentity;
  readonly executionId: string;
  /** The same whenever the same turn is kept: what is written under it once is there once. */
  readonly key: string;
  readonly finalText: string;
}

export interface TurnKeeper {
  /** Of the hook: an agent lists it. `persist_turns` unless given. */
  readonly id?: string;
  readonly persistAssistantMessage: (turn: FinishedTurn) => Promise<void> | void;
  /** Changes what is kept, not what was told. */
  readonly transformFinalText?: (finalText: string, identity: ChatTurnIdentity) => Promise<string> | string;
  /** Behind what is kept. What it throws changes nothing. */
  readonly onTurnComplete?: (turn: FinishedTurn) => Promise<void> | void;
  /** Of `persistAssistantMessage`; 4 unless given. All of it within the 30 s of a hook. */
  readonly attempts?: number;
  readonly log?: (message: string, error: unknown) => void;
}

/**
 * A hook for agents whose turns `handleChatTurn` serves; executions that are none are left alone.
 * @example
 * ```ts
 * export default persistTurns({
 *   persistAssistantMessage: async ({ key, identity, finalText }) => console.log(key, identity.sessionId, finalText),
 * });
 * ```
 */
export function persistTurns(keeper: TurnKeeper): HookDefinition<'on_agent_end'> {
  const { id = 'persist_turns', transformFinalText, onTurnComplete, log = console.error } = keeper;
  return defineHook({
    hook: 'on_agent_end',
    id,
    async execute(state, { executionId, key, status, text }) {
      if (status !== 'idle') return;
      const identity = await readIdentity(state, executionId);
      if (!identity) return;
      // P1: from here on it has to be kept.
      await state.setValue(TURN_BEGUN, executionId);
      const said = text ?? '';
      const finalText = transformFinalText ? await transformFinalText(said, identity) : said;
      const turn = { identity, executionId, key, finalText };
      await persist(keeper, turn);
      await state.setValue(TURN_KEPT, executionId);
      try {
        await onTurnComplete?.(turn);
      } catch (error) {
        log(`What follows the turn ${executionId} has failed: ${errorMessage(error)}`, error);
      }
    },
  });
}

const FIRST_PAUSE_MS = 100;

async function persist(
  { persistAssistantMessage, attempts = 4 }: TurnKeeper,
  turn: FinishedTurn,
): Promise<void> {
  for (let n = 1; ; n += 1) {
    try {
      return await persistAssistantMessage(turn);
    } catch (error) {
      if (n >= attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 4 ** (n - 1)));
    }
  }
}

async function readIdentity(state: ThreadState, executionId: string): Promise<ChatTurnIdentity | null> {
  const message = await state.getMessage(itemIdOf(executionId));
  const found = message?.metadata[TURN_METADATA] as ChatTurnIdentity | undefined;
  return typeof found?.sessionId === 'string' ? found : null;
}

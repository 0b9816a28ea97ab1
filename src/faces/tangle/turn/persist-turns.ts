/**
 * Keeps the answers of chat turns in the product's own database. This is done by a hook of the answering agent, so it
 * runs on that agent's worker, even if nobody reads the turn.
 * - A turn is complete for its readers once it is kept (core/thread/turn-mark.ts), and has failed if it could not be
 *   kept.
 * - The hook may run again if a worker is lost; the key is the same then.
 */
import type { HookDefinition } from '../../../core/author/hook.ts';
import type { ThreadState } from '../../../core/author/thread-state.ts';
import { itemIdOf } from '../../../core/thread/execution-id.ts';
import { TURN_BEGUN, TURN_KEPT, TURN_METADATA } from '../../../core/thread/turn-mark.ts';
import { errorMessage } from '../../../core/value/error.ts';
import { defineHook } from '../../../definitions/index.ts';
import type { ChatTurnIdentity } from '../../../projections/tangle/chat-turn.ts';

export interface FinishedTurn {
  readonly identity: ChatTurnIdentity;
  readonly executionId: string;
  /** Idempotency key: the same each time the same turn is kept. */
  readonly key: string;
  readonly finalText: string;
}

export interface TurnKeeper {
  /** Id of the hook, which agents list. `persist_turns` unless given. */
  readonly id?: string;
  readonly persistAssistantMessage: (turn: FinishedTurn) => Promise<void> | void;
  /** Changes the text that is kept, not the text that was streamed. */
  readonly transformFinalText?: (finalText: string, identity: ChatTurnIdentity) => Promise<string> | string;
  /** Called after the turn is kept. What it throws is logged and changes nothing. */
  readonly onTurnComplete?: (turn: FinishedTurn) => Promise<void> | void;
  /** Attempts at `persistAssistantMessage`; 4 unless given. Together they must end within the 30 s of a hook. */
  readonly attempts?: number;
  readonly log?: (message: string, error: unknown) => void;
}

/**
 * Returns a hook for agents whose turns `handleChatTurn` serves; executions that are no chat turns are ignored.
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
      // From here on the turn fails unless it is kept.
      await state.setValue(TURN_BEGUN, executionId);
      const rawText = text ?? '';
      const finalText = transformFinalText ? await transformFinalText(rawText, identity) : rawText;
      const turn = { identity, executionId, key, finalText };
      await persistTurn(keeper, turn);
      await state.setValue(TURN_KEPT, executionId);
      try {
        await onTurnComplete?.(turn);
      } catch (error) {
        log(`onTurnComplete of turn ${executionId} failed: ${errorMessage(error)}`, error);
      }
    },
  });
}

const FIRST_PAUSE_MS = 100;

async function persistTurn(
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

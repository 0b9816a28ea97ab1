/**
 * A chat turn whose answer a closure produces: it lives with the process that was handed it. What it tells is in the log as it comes; what it has said is
 * kept by the product before the turn is complete. Nothing here needs Node.
 */
import { errorMessage, isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import type { ChatTurnIdentity } from '../../projections/tangle/chat-turn.ts';
import type { Produce } from '../box/remote-box.ts';

export interface ProduceTurn {
  readonly identity: ChatTurnIdentity;
  readonly message: string;
  readonly executionId: string;
  /** Fires when nobody takes any more of it: the turn was stopped, or this process taken for lost. */
  readonly signal: AbortSignal;
}

export interface ProducedTurn {
  /** Lines of its own, told as they are: `{ type, data }`. Types of the envelope, `session.run.…` and `execution.…`, are not for it. */
  readonly stream: AsyncIterable<{ readonly type: string; readonly data?: unknown }>;
  /** Asked behind the last line. */
  readonly finalText: () => Promise<string> | string;
}

export interface SaidTurn {
  readonly identity: ChatTurnIdentity;
  readonly executionId: string;
  readonly finalText: string;
}

/** Of a turn that a closure produces. */
export interface ProducedTurnHooks {
  readonly produce?: (turn: ProduceTurn) => Promise<ProducedTurn> | ProducedTurn;
  /** Before the turn is complete, and tried four times: a turn that cannot be kept has failed. */
  readonly persistAssistantMessage?: (turn: SaidTurn) => Promise<void> | void;
  /** Changes what is kept, in the session too; not what was told. */
  readonly transformFinalText?: (finalText: string, identity: ChatTurnIdentity) => Promise<string> | string;
  /** Behind what is kept. What it throws is logged. */
  readonly onTurnComplete?: (turn: SaidTurn) => Promise<void> | void;
}

interface Turn {
  readonly identity: ChatTurnIdentity;
  readonly message: string;
  readonly hooks: ProducedTurnHooks;
  readonly log: (message: string, error: unknown) => void;
}

/** Undefined where no closure produces it. */
export function toProduce({ identity, message, hooks, log }: Turn): Produce | undefined {
  const { produce, persistAssistantMessage, transformFinalText, onTurnComplete } = hooks;
  if (!produce) return undefined;
  return async ({ executionId, signal }) => {
    const { stream, finalText } = await produce({ identity, message, executionId, signal });
    return {
      lines: stream,
      async end() {
        const said = await finalText();
        const text = transformFinalText ? await transformFinalText(said, identity) : said;
        const turn = { identity, executionId, finalText: text };
        if (persistAssistantMessage) await keep(() => persistAssistantMessage(turn));
        try {
          await onTurnComplete?.(turn);
        } catch (error) {
          log(`What follows the turn ${executionId} has failed: ${errorMessage(error)}`, error);
        }
        return { text };
      },
    };
  };
}

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 100;

async function keep(persist: () => Promise<void> | void): Promise<void> {
  for (let n = 1; ; n += 1) {
    try {
      return await persist();
    } catch (error) {
      if (n >= ATTEMPTS) throw isRuntimeError(error) ? error : notKept(error);
      await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 4 ** (n - 1)));
    }
  }
}

function notKept(cause: unknown): Error {
  return new Error(`What was said could not be kept: ${errorMessage(cause)}`, { cause });
}

/** What only a closure's turn has; without one it is the affair of an agent's hook (`persistTurns`). */
export function checkHooks({ produce, ...hooks }: ProducedTurnHooks, produces: boolean): void {
  if (produce && !produces)
    throw new RuntimeError(
      'InvalidConfiguration',
      'The hook "produce" lives with this process, and the box answers elsewhere: give a box of `clientBox`, or make an agent of it.',
    );
  const names = ['persistAssistantMessage', 'transformFinalText', 'onTurnComplete'] as const;
  const idle = names.find((name) => hooks[name] !== undefined);
  if (idle && !produce)
    throw new RuntimeError(
      'InvalidConfiguration',
      `The hook "${idle}" is of a turn that "produce" answers: where an agent answers, give it to \`persistTurns\`, a hook of the agent.`,
    );
}

/**
 * A chat turn whose answer a closure produces; the turn lives with the process that has the closure. Its lines go into
 * the log as they come, and the product stores its text before the turn is complete. Nothing here needs Node.
 */
import type { ManifestDefinition } from '../../../core/author/manifest.ts';
import { errorMessage, isRuntimeError, RuntimeError } from '../../../core/value/error.ts';
import type { ChatTurnIdentity } from '../../../projections/tangle/chat-turn.ts';
import type { Produce } from '../box/remote-box.ts';

export interface ProduceTurn {
  readonly identity: ChatTurnIdentity;
  readonly message: string;
  readonly executionId: string;
  /** Aborts once no more output is accepted: the turn was stopped, or this process counts as lost. */
  readonly signal: AbortSignal;
}

export interface ProducedTurn {
  /**
   * The closure's own lines `{ type, data }`, emitted unchanged. It must not use the types of the envelope,
   * `session.run.…` and `execution.…`.
   */
  readonly stream: AsyncIterable<{ readonly type: string; readonly data?: unknown }>;
  /** Called after the last line. */
  readonly finalText: () => Promise<string> | string;
}

export interface SaidTurn {
  readonly identity: ChatTurnIdentity;
  readonly executionId: string;
  readonly finalText: string;
}

/** Hooks of a turn that a closure produces. */
export interface ProducedTurnHooks {
  readonly produce?: (turn: ProduceTurn) => Promise<ProducedTurn> | ProducedTurn;
  /**
   * True if the answer may be produced again, with the same `executionId`, by the next process that is asked for the
   * turn when the first one is lost: what it does is harmless twice, or it attaches to what it has begun.
   */
  readonly repeatable?: boolean;
  /** Called before the turn is complete, with up to four attempts. A turn that cannot be kept has failed. */
  readonly persistAssistantMessage?: (turn: SaidTurn) => Promise<void> | void;
  /** Changes the text that is kept, in the session too, but not the text that was streamed. */
  readonly transformFinalText?: (finalText: string, identity: ChatTurnIdentity) => Promise<string> | string;
  /** Called after the turn is kept. What it throws is logged. */
  readonly onTurnComplete?: (turn: SaidTurn) => Promise<void> | void;
}

/** Lets the agent's `run` produce the turn. Throws `InvalidConfiguration` if it cannot. */
export function withProducer<Hooks extends ProducedTurnHooks>(
  hooks: Hooks,
  agent: Pick<ManifestDefinition, 'id' | 'run' | 'runHere'> | undefined,
): Hooks {
  if (agent === undefined) return hooks;
  const problem =
    agent.runHere === undefined
      ? `The agent "${agent.id}" runs ${JSON.stringify(agent.run)}, which belongs to the project: leave \`agent\` out, and name it in the box.`
      : hooks.produce &&
        `The agent "${agent.id}" and the hook "produce" would both produce the turn: leave one out.`;
  if (problem) throw new RuntimeError('InvalidConfiguration', problem);
  return { ...hooks, produce: agent.runHere as ProducedTurnHooks['produce'] };
}

interface Turn {
  readonly identity: ChatTurnIdentity;
  readonly message: string;
  readonly hooks: ProducedTurnHooks;
  readonly log: (message: string, error: unknown) => void;
}

/** Undefined if no closure produces the turn. */
export function toProduce({ identity, message, hooks, log }: Turn): Produce | undefined {
  const { produce, persistAssistantMessage, transformFinalText, onTurnComplete } = hooks;
  if (!produce) return undefined;
  return async ({ executionId, signal }) => {
    const { stream, finalText } = await produce({ identity, message, executionId, signal });
    return {
      lines: stream,
      async end() {
        const rawText = await finalText();
        const text = transformFinalText ? await transformFinalText(rawText, identity) : rawText;
        const turn = { identity, executionId, finalText: text };
        if (persistAssistantMessage) await persistWithRetries(() => persistAssistantMessage(turn));
        try {
          await onTurnComplete?.(turn);
        } catch (error) {
          log(`onTurnComplete of turn ${executionId} failed: ${errorMessage(error)}`, error);
        }
        return { text };
      },
    };
  };
}

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 100;

async function persistWithRetries(persist: () => Promise<void> | void): Promise<void> {
  for (let n = 1; ; n += 1) {
    try {
      return await persist();
    } catch (error) {
      if (n >= ATTEMPTS) throw isRuntimeError(error) ? error : persistError(error);
      await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 4 ** (n - 1)));
    }
  }
}

function persistError(cause: unknown): Error {
  return new Error(`The turn could not be stored: ${errorMessage(cause)}`, { cause });
}

/**
 * Throws `InvalidConfiguration` if the box does not support `produce`, or if there are other hooks without it: if an
 * agent answers, its own hook (`persistTurns`) takes their place.
 */
export function checkHooks({ produce, ...hooks }: ProducedTurnHooks, produces: boolean): void {
  if (produce && !produces)
    throw new RuntimeError(
      'InvalidConfiguration',
      'The hook "produce" runs in this process, but the box is remote: use `clientBox`, or define an agent.',
    );
  const names = ['persistAssistantMessage', 'transformFinalText', 'onTurnComplete'] as const;
  const idle = names.find((name) => hooks[name] !== undefined);
  if (idle && !produce)
    throw new RuntimeError(
      'InvalidConfiguration',
      `The hook "${idle}" requires "produce". If an agent answers, use \`persistTurns\`, a hook of the agent.`,
    );
}

/** Tools of the page as tools of the engine. */
import type { ThreadState } from '../core/author/thread-state.ts';
import { defineTool, type ToolArguments, type ToolInput } from '../definitions/index.ts';
import type { ConfirmGate } from './confirm-gate.ts';

/** JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** What a tool's body sees of its turn. */
export interface ToolScope {
  /** The thread's id. */
  readonly session: string;
  /** Fires when the turn is stopped. */
  readonly signal: AbortSignal;
  /**
   * Asks the gate, for a tool with `asks: true`. The call waits in no process, for days if need be; its body then begins again from its start and has
   * the answer here. So code before it must be free of effects. Each question of a call has a text of its own.
   */
  requestConfirm(question: string): Promise<boolean>;
}

export interface RuntimeTool
  extends Pick<
    ToolInput<ToolArguments>,
    'args' | 'asks' | 'idempotent' | 'quick' | 'timeoutMs' | 'approvalTimeoutMs'
  > {
  /** What the model reads to choose it. */
  readonly description: string;
  /** What the gate confirms before a call begins: `true`, or the question; null where this call needs none. */
  readonly confirm?: true | ((args: Fields) => string | null);
  /** Its arguments are those of the call. What it answers is the result, as text or JSON; what it throws is an error result. */
  readonly run: (args: Fields, scope: ToolScope) => unknown;
}

/** By name. */
export type RuntimeTools = Readonly<Record<string, RuntimeTool>>;

type Approves = Pick<ConfirmGate, 'approvesAll'>;

export function toTools(tools: RuntimeTools, gate: Approves) {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, toTool(tool, gate)]));
}

function toTool({ run, confirm, ...tool }: RuntimeTool, { approvesAll }: Approves) {
  const execute = async (state: ThreadState, args: Fields = {}) => {
    const requestConfirm = async (question: string) =>
      approvesAll || (await state.ask({ key: question.slice(0, 128), question })).value === true;
    const signal = state.execution?.abortSignal ?? new AbortController().signal;
    const result = await run(args, { session: state.threadId, signal, requestConfirm });
    const text = typeof result === 'string' ? result : JSON.stringify(result ?? null);
    return { status: 'success', result: text } as const;
  };
  const asked = confirm === undefined ? {} : { confirm };
  // What the arguments are is known to their schema alone.
  return defineTool({ ...tool, ...asked, execute } as unknown as ToolInput);
}

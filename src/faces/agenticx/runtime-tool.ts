/** Converts tools of AgenticX to tools of the engine. */
import type { ThreadState } from '../../core/author/thread-state.ts';
import { defineTool, type ToolArguments, type ToolInput } from '../../definitions/index.ts';
import { ANY_ARGUMENTS } from '../../definitions/tool-schema.ts';
import type { ConfirmGate } from './confirm-gate.ts';

/** JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** What the code of a tool receives from its turn. */
export interface ToolScope {
  /** The thread's id. */
  readonly session: string;
  /** Aborts when the turn is stopped. */
  readonly signal: AbortSignal;
  /**
   * Asks the gate, for a tool with `asks: true`. The call waits without a process, for days if necessary; then `run`
   * starts again from its beginning, and this returns the answer. So code before it must have no side effects. Each
   * question of a call needs a different text.
   */
  requestConfirm(question: string): Promise<boolean>;
}

export interface RuntimeTool
  extends Pick<
    ToolInput<ToolArguments>,
    'args' | 'asks' | 'idempotent' | 'quick' | 'timeoutMs' | 'approvalTimeoutMs'
  > {
  /** Description by which the model chooses the tool. Without `args`, the arguments of its calls pass as they are. */
  readonly description: string;
  /** What the gate confirms before a call begins: `true`, or a question; null if this call needs no confirmation. */
  readonly confirm?: true | ((args: Fields) => string | null);
  /** Receives the arguments of the call. Returns the result, as text or JSON; an error is an error result. */
  readonly run: (args: Fields, scope: ToolScope) => unknown;
}

/** Tools by name. */
export type RuntimeTools = Readonly<Record<string, RuntimeTool>>;

type Approver = Pick<ConfirmGate, 'approvesAll'>;

export function toTools(tools: RuntimeTools, gate: Approver) {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, toTool(tool, gate)]));
}

function toTool(
  { run, confirm, args: schema = ANY_ARGUMENTS, ...tool }: RuntimeTool,
  { approvesAll }: Approver,
) {
  const execute = async (state: ThreadState, args: Fields) => {
    const requestConfirm = async (question: string) =>
      approvesAll || (await state.ask({ key: question.slice(0, 128), question })).value === true;
    const signal = state.execution?.abortSignal ?? new AbortController().signal;
    const result = await run(args, { session: state.threadId, signal, requestConfirm });
    const text = typeof result === 'string' ? result : JSON.stringify(result ?? null);
    return { status: 'success', result: text } as const;
  };
  const asked = confirm === undefined ? {} : { confirm };
  // Only the schema knows the types of the arguments.
  return defineTool({ ...tool, ...asked, args: schema, execute } as unknown as ToolInput);
}

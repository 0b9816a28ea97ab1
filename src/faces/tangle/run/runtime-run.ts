/**
 * The row of a run in the product's own database, and the cost of the run.
 * - The row is written at the start, as `running`. It outlives a crash, and a run with the same id continues it.
 * - A model call is counted once, however often it is observed, if its event has an id.
 * - A run ends once: the same end again changes nothing, and another end is refused.
 */
import { clampAmount, toPico, toUsd } from '../../../core/value/money.ts';
import { definedFields } from '../../../core/value/record.ts';
import { RuntimeRunStateError, ValidationError } from '../failure.ts';

export interface RunCost {
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costUsd: number;
  /** Milliseconds since the start of the run, until its end. */
  readonly wallMs: number;
  readonly llmCalls: number;
}

export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled';

export interface RunRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly taskId: string;
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly domain?: string;
  readonly scenarioId?: string;
  readonly status: RunStatus;
  readonly resultSummary?: string;
  readonly error?: string;
  readonly cost: RunCost;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly completedAt?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface RunRowAdapter {
  /** Inserts the row, or updates the one with this id. */
  upsertRun(row: RunRow): Promise<void> | void;
}

export interface RuntimeRunOptions {
  readonly workspaceId: string;
  readonly taskSpec: { readonly id: string; readonly domain?: string };
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly scenarioId?: string;
  /** Writes the rows; no row is written unless given. */
  readonly adapter?: RunRowAdapter;
  /**
   * Id of the run, such as an execution's id; derived from the task's id unless given. A run with the same id continues
   * the row.
   */
  readonly id?: string;
  readonly now?: () => number;
}

/** An observed event; only those of the type `llm_call` are counted. */
export interface LedgerEvent {
  readonly type: string;
  /** Id of the event; needed if it may be observed twice. */
  readonly id?: string;
  readonly data?: unknown;
}

export interface RunCompletion {
  readonly status: Exclude<RunStatus, 'running'>;
  readonly resultSummary?: string;
  /** Replaces the counted values. */
  readonly cost?: Partial<RunCost>;
  readonly error?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface RuntimeRun {
  readonly id: string;
  /**
   * Resolves once the row is written as `running`, and rejects with what the adapter throws. Await it before work of
   * which a crash must leave a row.
   */
  readonly started: Promise<void>;
  observe(event: LedgerEvent): void;
  cost(): RunCost;
  /** Ends the run. Throws `RuntimeRunStateError` if it has ended with another status. */
  complete(completion: RunCompletion): void;
  toRow(metadata?: Readonly<Record<string, unknown>>): RunRow;
  /** Writes the row. Throws `RuntimeRunStateError` if the run has not ended, and what the adapter throws. */
  persist(metadata?: Readonly<Record<string, unknown>>): Promise<void>;
}

/**
 * Returns at once; the row is being written. Throws `ValidationError` if the workspace or the task has no id.
 * @example
 * ```ts
 * const run = startRuntimeRun({ workspaceId: 'acme', taskSpec: { id: 'review' }, adapter: { upsertRun: console.log } });
 * run.observe({ type: 'llm_call', data: { model: 'm', tokensIn: 1200, tokensOut: 280, costUsd: 0.0041 } });
 * run.complete({ status: 'completed', resultSummary: 'Reviewed.' });
 * await run.persist();
 * ```
 */
export function startRuntimeRun(options: RuntimeRunOptions): RuntimeRun {
  const { workspaceId, taskSpec, adapter, now = Date.now } = options;
  if (!isText(workspaceId)) throw new ValidationError('The run has no workspace: pass "workspaceId".');
  if (!isText(taskSpec?.id)) throw new ValidationError('The run has no task: pass "taskSpec" with an id.');
  const id = options.id ?? `${taskSpec.id}:${crypto.randomUUID().slice(0, 8)}`;
  const startedAt = now();
  const ledger = { tokensIn: 0, tokensOut: 0, cost: 0n, llmCalls: 0 };
  const counted = new Set<string>();
  let end: { readonly at: number; readonly completion: RunCompletion } | undefined;

  const cost = (): RunCost => {
    const { llmCalls, tokensIn, tokensOut } = ledger;
    const wallMs = (end?.at ?? now()) - startedAt;
    const found = { tokensIn, tokensOut, costUsd: toUsd(ledger.cost), wallMs, llmCalls };
    return { ...found, ...end?.completion.cost };
  };
  const toRow: RuntimeRun['toRow'] = (metadata) => {
    const { sessionId, agentId, scenarioId } = options;
    const { resultSummary, error, metadata: own } = end?.completion ?? {};
    const all = { ...own, ...metadata };
    return {
      id,
      workspaceId,
      taskId: taskSpec.id,
      status: end?.completion.status ?? 'running',
      cost: cost(),
      startedAt: new Date(startedAt).toISOString(),
      ...definedFields({ sessionId, agentId, scenarioId, domain: taskSpec.domain, resultSummary, error }),
      ...(end && { completedAt: new Date(end.at).toISOString() }),
      ...(Object.keys(all).length > 0 && { metadata: all }),
    };
  };
  const started = (async () => adapter?.upsertRun(toRow()))();
  // A caller who does not await it learns of a broken adapter from `persist`.
  started.catch(() => undefined);
  return {
    id,
    started,
    observe(event) {
      if (event.type !== 'llm_call') return;
      // Observed again by a reader that resumed before it.
      if (event.id !== undefined && counted.has(event.id)) return;
      if (event.id !== undefined) counted.add(event.id);
      const { tokensIn, tokensOut, costUsd } = { ...event, ...(event.data as object) } as Record<
        string,
        unknown
      >;
      ledger.llmCalls += 1;
      ledger.tokensIn += finiteOrZero(tokensIn);
      ledger.tokensOut += finiteOrZero(tokensOut);
      ledger.cost = clampAmount(ledger.cost + toPico(finiteOrZero(costUsd)));
    },
    cost,
    complete(completion) {
      const { status } = completion;
      if (end?.completion.status === status) return;
      if (end)
        throw new RuntimeRunStateError(
          `Run "${id}" is ${end.completion.status}: it cannot become ${status}.`,
        );
      if (!['completed', 'failed', 'cancelled'].includes(status))
        throw new RuntimeRunStateError(`Run "${id}" cannot end as "${status}".`);
      end = { at: now(), completion };
    },
    toRow,
    async persist(metadata) {
      if (!end)
        throw new RuntimeRunStateError(`Run "${id}" has not ended: complete it before persisting it.`);
      // Not overtaken by the row of the start.
      await started.catch(() => undefined);
      await adapter?.upsertRun(toRow(metadata));
    },
  };
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function finiteOrZero(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** The page's run store over the engine's own: what the index and the log have. Nothing is saved: it is there. */
import type { RunRecord } from '../client/run-record.ts';
import type { StoredRuns } from '../client/stored-runs.ts';
import type { RunReport } from '../projections/run/run-report.ts';
import type { ListExecutions } from '../store/port/execution.ts';

/**
 * Finds and reads runs, of an agent's store.
 * @example
 * ```ts
 * const agent = new Agent({ name: 'worker', description: 'Worker' });
 * const recent = await agent.runs.listTaskRecords({ sessionId: 'session_abc' });
 * for (const { id } of recent) console.log((await agent.runs.getReport(id)).actions);
 * ```
 */
export class RunRecords {
  readonly #runs: () => Promise<StoredRuns>;

  constructor(runs: () => Promise<StoredRuns>) {
    this.#runs = runs;
  }

  /** The latest first. */
  async listTaskRecords(options: ListExecutions = {}): Promise<readonly RunRecord[]> {
    return (await this.#runs()).list(options);
  }

  /** By the id of the task or of its run, as the report. Throws `ExecutionNotFound`. */
  async getTaskRecord(id: string): Promise<RunRecord> {
    return (await this.#runs()).get(id);
  }

  async getReport(id: string): Promise<RunReport> {
    return (await this.#runs()).report(id);
  }
}

/** The one interface behind which each runtime is measured, in a process of its own (child.ts). */

export interface PeerOptions {
  /** Folder of the run, which outlives a killed worker. */
  readonly folder: string;
  readonly ledger: string;
  /** Address of the Temporal server, where the row has one. */
  readonly temporal: string;
  /** Address of an empty PostgreSQL database, where the row has one. */
  readonly database?: string;
  /** Ports for the row's own use, the same after a kill. */
  readonly ports: readonly number[];
  /** What distinguishes the rows of one runtime. */
  readonly settings: Readonly<Record<string, string>>;
  /** Reports a run that the runtime has ended with an error. */
  fail(thread: string, error: unknown): void;
}

export interface Peer {
  /** Begins a thread of so many steps; resolves once the runtime has taken it over. */
  run(thread: string, steps: number): Promise<void>;
  /** Begins a thread whose model hangs. */
  hang(thread: string): Promise<void>;
  /** Cancels a thread; resolves once the runtime reports it as ended. Absent where a run cannot be cancelled. */
  cancel?(thread: string): Promise<void>;
  /** Continues these threads after a kill; absent where the runtime does so by itself. */
  resume?(threads: readonly string[]): Promise<void>;
}

/** Types of what the routes use. */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { CountOnce } from './recent-counts.ts';

/** Dependencies of the routes. */
export interface ApiHost {
  readonly client: RuntimeClient;
  /** The project's agents; null if the project is not known. */
  readonly agents: (() => readonly ApiAgent[]) | null;
  /** Address of Temporal's Web UI; null if it is not known. */
  readonly uiUrl: string | null;
  /** Counts of threads, made once for those who ask at about the same time. */
  readonly countOnce: CountOnce;
  /** Open streams and their limits. */
  readonly streams: StreamPlace;
}

export interface ApiAgent {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly icon?: string | null;
  /** Arguments of a new thread; absent if the agent declares none. */
  readonly arguments?: AgentArguments | undefined;
  readonly sideA?: AgentSide;
  /** Absent if side B is a person. */
  readonly sideB?: AgentSide | undefined;
}

/** The arguments of an agent: its side A's `requiredSchema`. */
export interface AgentArguments {
  /** JSON schema of an object. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Returns the arguments with their defaults, or a text that says what is wrong with them. */
  check(given: Readonly<Record<string, unknown>>): Promise<CheckedArguments>;
}

export type CheckedArguments =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problems: string };

/** A side that a prompt speaks for. */
export interface AgentSide {
  readonly prompt: string;
  readonly label?: string | null;
}

/** Admits streams; `enter` returns null if the limit is reached. */
export interface StreamPlace {
  enter(threadId: string): { readonly signal: AbortSignal; leave(): void } | null;
}

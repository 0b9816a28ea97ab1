/** What the routes work with. */
import type { RuntimeClient } from '../../client/runtime-client.ts';

/** What a route may use. */
export interface ApiHost {
  readonly client: RuntimeClient;
  /** Names of the project's agents; null where it is not known. */
  readonly agents: (() => readonly ApiAgent[]) | null;
  /** Streams that are open, and how they are bounded. */
  readonly streams: StreamPlace;
}

export interface ApiAgent {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly icon?: string | null;
  /** What a thread of it begins with; absent where it declares nothing. */
  readonly arguments?: AgentArguments | undefined;
  readonly sideA?: AgentSide;
  /** Absent where a person has it. */
  readonly sideB?: AgentSide | undefined;
}

/** The arguments of an agent: its side A's `requiredSchema`. */
export interface AgentArguments {
  /** JSON schema of an object. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The same with its defaults; or what is wrong with it, in words. */
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

/** Admits a stream; null where there are as many as there may be. */
export interface StreamPlace {
  enter(threadId: string): { readonly signal: AbortSignal; leave(): void } | null;
}

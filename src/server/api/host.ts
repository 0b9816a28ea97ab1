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
  /** JSON schema of the arguments that a thread of it begins with; absent where it declares none. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly sideA?: AgentSide;
  /** Absent where a person has it. */
  readonly sideB?: AgentSide | undefined;
}

/** A side that a prompt speaks for. */
export interface AgentSide {
  readonly prompt: string;
  readonly label?: string | null;
}

/** Admits a stream; null where there are as many as there may be. */
export interface StreamPlace {
  enter(threadId: string): { readonly signal: AbortSignal; leave(): void } | null;
}

/**
 * The events of a turn, with those of the subagents that are created in it.
 * - The events of a thread keep their order. Those of a subagent come after its `subagent_started`, and before its
 *   `subagent_completed` or `subagent_error` and before the end of the turn.
 * - Ends and questions of a subagent are events of the turn already.
 */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isTerminal, type RuntimeEvent } from '../../projections/agenticx/agenticx-event.ts';
import type { Projected } from '../../projections/projection.ts';

interface Log {
  readonly threadId: string;
  readonly agentId: string;
  /** Id of the execution that is read; all of them unless given. */
  readonly run?: string;
}

export async function* followTeam(client: RuntimeClient, turn: Log): AsyncGenerator<RuntimeEvent, void> {
  const own = new LogSource(client, turn);
  const team = new Map<string, LogSource>();
  const ofTeam = async function* (events: readonly RuntimeEvent[]): AsyncGenerator<RuntimeEvent> {
    for (const event of events) if (!isToldByTurn(event)) yield* tell(event);
  };
  const tell = async function* (event: RuntimeEvent): AsyncGenerator<RuntimeEvent> {
    const { type, data } = event;
    const ending = isTerminal(event) ? [...team.values()] : [];
    if (type === 'subagent_completed' || type === 'subagent_error') ending.push(...find(data.agent_id));
    for (const source of ending) yield* ofTeam(await source.catchUp());
    yield event;
    if (type === 'subagent_started' && !team.has(data.agent_id))
      team.set(data.agent_id, new LogSource(client, { threadId: data.agent_id, agentId: data.agent_id }));
  };
  const find = (id: string) => [...team].flatMap(([known, source]) => (known === id ? [source] : []));
  try {
    for (;;) {
      const source = await Promise.race([own, ...team.values()].map((each) => each.ready()));
      const event = await source.take();
      if (source === own && !event) return;
      if (!event) team.delete(source.threadId);
      else yield* source === own ? tell(event) : ofTeam([event]);
    }
  } finally {
    for (const source of [own, ...team.values()]) source.close();
  }
}

const isToldByTurn = (event: RuntimeEvent) => isTerminal(event) || event.type.startsWith('confirm_');

/** One log, read event by event. */
class LogSource {
  readonly #client: RuntimeClient;
  readonly #log: Log;
  #after: string | undefined;
  #reading:
    | { readonly events: AsyncIterator<Projected<RuntimeEvent>>; readonly end: AbortController }
    | undefined;
  #next: Promise<IteratorResult<Projected<RuntimeEvent>>> | undefined;

  constructor(client: RuntimeClient, log: Log) {
    this.#client = client;
    this.#log = log;
  }

  get threadId(): string {
    return this.#log.threadId;
  }

  /** Resolves once `take` has something to return. */
  async ready(): Promise<this> {
    await this.#peek();
    return this;
  }

  /** Undefined if the log has no more events. */
  async take(): Promise<RuntimeEvent | undefined> {
    const { value } = await this.#peek();
    this.#next = undefined;
    this.#after = value?.cursor ?? this.#after;
    return value?.event;
  }

  /** Returns all events that the log has by now and that were not taken. */
  async catchUp(): Promise<readonly RuntimeEvent[]> {
    this.close();
    const events: RuntimeEvent[] = [];
    for await (const { cursor, event } of this.#read({ follow: false })) {
      this.#after = cursor;
      events.push(event);
    }
    return events;
  }

  close(): void {
    this.#reading?.end.abort();
    // What is awaited there is read again, if at all.
    this.#next?.catch(() => undefined);
    this.#reading = this.#next = undefined;
  }

  #peek(): Promise<IteratorResult<Projected<RuntimeEvent>>> {
    if (!this.#reading) {
      const end = new AbortController();
      this.#reading = { events: this.#read({ signal: end.signal })[Symbol.asyncIterator](), end };
    }
    this.#next ??= this.#reading.events.next();
    return this.#next;
  }

  #read(how: { readonly follow?: boolean; readonly signal?: AbortSignal }) {
    const { threadId, ...log } = this.#log;
    const after = this.#after === undefined ? {} : { after: this.#after };
    return this.#client.events(threadId, { as: 'agenticx', ...log, ...after, ...how });
  }
}

/**
 * 0030: open requests for variables from early versions get waits, as new requests do: they are listed, answered and
 * refused as waits.
 */
import type { Kysely, Migration } from 'kysely';
import type { Tables } from './tables.ts';

const SUMMARY_CHARS = 500;

export const requestsAsWaits: Migration = {
  async up(db: Kysely<Tables>) {
    const requests = await db
      .selectFrom('variable_requests')
      .innerJoin('threads', 'threads.id', 'variable_requests.parent_id')
      .leftJoin('waits', 'waits.id', 'variable_requests.id')
      .selectAll('variable_requests')
      .select('threads.root_id')
      .where('waits.id', 'is', null)
      .where('variable_requests.child_id', 'is', null)
      .where('variable_requests.completed_at', 'is', null)
      .where('threads.terminated_at', 'is', null)
      .execute();
    for (const {
      id,
      parent_id: threadId,
      root_id,
      agent,
      required,
      missing,
      child,
      created_at,
    } of requests) {
      const { types = {} } = JSON.parse(child) as { readonly types?: object };
      const names = JSON.parse(missing) as string[];
      const asked = { agent, required: JSON.parse(required), missing: names, types };
      await db
        .insertInto('waits')
        .values({
          ...{ id, thread_id: threadId, root_id, key: `variables:${id}`, kind: 'variables', name: agent },
          summary: `Variables of the subagent "${agent}": ${names.join(', ')}`.slice(0, SUMMARY_CHARS),
          data: JSON.stringify(asked),
          ...{ fingerprint: null, execution_id: null, step: null, idx: null, tool_call_id: null },
          ...{ blocks: 0, state: 'open', answer: null, reason: null, opened_at: created_at },
          ...{ expires_at: null, ended_at: null, heard: 1 },
        })
        .execute();
      await db
        .updateTable('threads')
        .set((eb) => ({ open_waits: eb('open_waits', '+', 1) }))
        .where('id', '=', threadId)
        .execute();
    }
  },
};

/**
 * The fields of a message about its subagent (definitions §15.1): joined from the parent's registry when the message is
 * read, so that names and statuses are current. The metadata's `subagent_id` identifies the subagent.
 */
import type { Kysely } from 'kysely';
import type { Message, SubagentFields } from '../../../core/message/message.ts';
import { spawnGroupOf } from '../../../core/project/subagent.ts';
import type { Tables } from '../../schema/tables.ts';
import { readInBatches } from './batches.ts';

export async function joinSubagents(
  db: Kysely<Tables>,
  threadId: string,
  messages: Message[],
): Promise<Message[]> {
  const ids = [...new Set(messages.flatMap(({ metadata: { subagent_id: id } }) => (isId(id) ? [id] : [])))];
  // Most threads have no children, and need no query.
  if (ids.length === 0) return messages;
  const children = await readInBatches(ids, (batch) =>
    db
      .selectFrom('children')
      .selectAll()
      .where('parent_id', '=', threadId)
      .where('child_id', 'in', batch)
      .execute(),
  );
  const fields = new Map<unknown, SubagentFields>(
    children.map((child) => [
      child.child_id,
      {
        subagent_id: child.child_id,
        subagent_name: child.agent,
        subagent_title: child.title,
        subagent_description: child.description,
        subagent_status: child.status,
        subagent_resumable: child.resumable === 1,
        subagent_blocking: child.blocking === 1,
        subagent_thread_name: child.name,
        subagent_spawn_group_id: spawnGroupOf(child.parent_id, child.made_step),
      },
    ]),
  );
  return messages.map((message) => ({ ...message, ...fields.get(message.metadata.subagent_id) }));
}

const isId = (value: unknown): value is string => typeof value === 'string';

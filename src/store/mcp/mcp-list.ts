/**
 * Lists of tools, as MCP servers have reported them.
 * M2. Pinned: within an execution a server's first list counts, even if it is asked again. A server that failed may be
 *     asked again; its failure is logged once for each code.
 * - The key is (thread, server): the log shows how a list differs from the thread's previous one.
 */
import type { Selectable } from 'kysely';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { McpList, McpListedTool, McpListTable, SaveMcpList } from './mcp-record.ts';

/** The lists of the servers that the thread has queried in this execution, one per server. */
export async function listMcp(
  { db }: CommandContext,
  threadId: string,
  executionId: string,
): Promise<readonly McpList[]> {
  const rows = await selectRows(db, 'mcp_lists', { thread_id: threadId, execution_id: executionId })
    .selectAll()
    .execute();
  return rows.map(toList);
}

/**
 * Stores a server's answer for the rest of the execution, and returns the stored list. A list that is already stored
 * for this execution stays and is returned; a failure may be replaced. Replaces the list of an earlier execution;
 * differences from it are logged.
 */
export async function saveMcp(context: CommandContext, command: SaveMcpList): Promise<McpList> {
  const { threadId, server, executionId, told } = command;
  return inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    const row = await thread.find('mcp_lists', { server });
    const isSame = row?.execution_id === executionId;
    // M2: the first list counts.
    if (isSame && row.code === null) return toList(row);
    const kept: McpListTable = {
      thread_id: threadId,
      server,
      execution_id: executionId,
      // After a failure, the previous list stays for comparison.
      tools: 'tools' in told ? JSON.stringify(told.tools) : (row?.tools ?? null),
      code: 'code' in told ? told.code : null,
      listed_at: thread.now,
    };
    await thread.trx
      .insertInto('mcp_lists')
      .values(kept)
      .onConflict((conflict) => conflict.columns(['thread_id', 'server']).doUpdateSet(kept))
      .execute();
    if (!isSame || row.code !== kept.code)
      emitChanges(thread, command, row?.tools ? (JSON.parse(row.tools) as McpListedTool[]) : []);
    return toList(kept);
  });
}

/** Compares the list with the previous one. */
function emitChanges(
  thread: ThreadTransaction,
  { server, step, told }: SaveMcpList,
  before: readonly McpListedTool[],
): void {
  if ('code' in told) {
    thread.emit('mcp.failed', { server, code: told.code, error: told.error }, { step });
    return;
  }
  const known = new Map(before.map(({ name, digest }) => [name, digest]));
  const changed = told.tools.flatMap(({ name, digest }) =>
    known.has(name) && known.get(name) !== digest ? [name] : [],
  );
  const { left = [] } = told;
  const listed = { server, tools: told.tools.map(({ name }) => name), changed };
  thread.emit('mcp.listed', { ...listed, left: left.length > 0 ? left : undefined }, { step });
}

function toList({ server, tools, code, listed_at: at }: Selectable<McpListTable>): McpList {
  const isListed = code === null && tools !== null;
  return {
    server,
    tools: isListed ? JSON.parse(tools) : null,
    code,
    listedAt: at,
  };
}

/** The body of `query_subagent_status`: answered from the store, as often as the limits of its turn allow. */
import { refuseQuery } from '../../core/guard/status-query.ts';
import type { ToolResult } from '../../core/message/message.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import type { ToolExecution } from './tool-frame.ts';

export async function answerStatusQuery(
  { store }: Pick<ActivityDependencies, 'store'>,
  { thread, step, index }: Pick<ToolExecution, 'thread' | 'step' | 'index'>,
  args: unknown,
): Promise<ToolResult> {
  const { limits, earlier, subagents } = await store.children.readTeam(thread.id, { step, index });
  const refused = limits && refuseQuery(limits, earlier);
  if (refused) return { status: 'error', error: refused };
  const { agent_id: id } = args as { agent_id?: string };
  const asked = id === undefined ? subagents : subagents.filter((each) => each.agent_id === id);
  // A query that finds nothing is an error, and does not count against the limits.
  if (asked.length === 0)
    return {
      status: 'error',
      error:
        id === undefined
          ? 'You have not started any subagents.'
          : `You have not started a subagent ${JSON.stringify(id)}.`,
    };
  return { status: 'success', result: JSON.stringify({ subagents: asked }) };
}

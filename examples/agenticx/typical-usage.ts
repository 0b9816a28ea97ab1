/**
 * The page's typical usage: an agent and a task, run by an executor. Needs a Temporal server (`everthread dev`, TEMPORAL_ADDRESS) and no key of any
 * provider: `openaiCompatible()` of `everthread/models` in place of the scripted model asks a real one.
 */
import { Agent, AgentExecutor, Task } from '../../src/faces/agenticx/index.ts';
import { calls, scriptedModel } from '../../src/testing/index.ts';

const agent = new Agent({
  name: 'research_assistant',
  role: 'Analyst',
  goal: 'Summarize findings',
  organizationId: 'my-org',
  tools: { search: { description: 'Finds sources.', run: () => ['a paper', 'a talk'] } },
});

const task = new Task({ id: 't1', description: 'Research topic X', expectedOutput: 'Short report' });

const { provider } = scriptedModel([
  calls('search'),
  calls('finish_task', { result: 'X is well understood.', reasoning: 'Two sources agree.' }),
]);
const executor = new AgentExecutor({ llmProvider: { provider, model: 'scripted' } });
try {
  const { success, result, event_log, stats } = await executor.run({ agent, task });
  for (const { type } of event_log) console.log(type);
  console.log(`success: ${success}, result: ${result}`);
  console.log(`calls: ${stats.tool_calls}, state: ${stats.final_state}`);
} finally {
  await executor.close();
}

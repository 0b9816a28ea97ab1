/** DBOS: the agent is a workflow in this process; its integration for the AI SDK stores each model call as a step. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { durableCalls } from '@dbos-inc/vercel-ai';
import { generateText, wrapLanguageModel } from 'ai';
import { effect, openLedger, say } from '../support/peers/double.ts';
import { effectTool, INSTRUCTIONS, model } from './ai-model.mjs';

const durable = wrapLanguageModel({ model, middleware: durableCalls() });
const agent = DBOS.registerWorkflow(
  async (prompt) => {
    await generateText({
      model: durable,
      instructions: INSTRUCTIONS,
      prompt,
      tools: { effect: effectTool((call) => DBOS.runStep(() => effect(call), { name: 'effect' })) },
      stopWhen: [],
      maxRetries: 0,
    });
  },
  { name: 'agent' },
);

export async function start({ ledger, database, fail }) {
  await openLedger(ledger);
  DBOS.setConfig({
    name: 'peers',
    systemDatabaseUrl: database,
    applicationVersion: '1',
    logLevel: 'error',
    runAdminServer: false,
  });
  // Recovers what was running.
  await DBOS.launch();
  const begin = async (thread, prompt) => {
    const handle = await DBOS.startWorkflow(agent, { workflowID: thread })(prompt);
    handle.getResult().catch((error) => fail(thread, error));
  };
  return {
    run: (thread, steps) => begin(thread, say('go', steps, thread)),
    hang: (thread) => begin(thread, say('hang', 0, thread)),
    async cancel(thread) {
      await DBOS.cancelWorkflow(thread);
      await DBOS.retrieveWorkflow(thread)
        .getResult()
        .catch(() => undefined);
    },
  };
}

/**
 * A model asks for a record to be published. The tool shows what would change, the application approves it, and only then is it done; a run whose
 * permissions are stricter is denied the same. Needs a Temporal server (`everthread dev`, TEMPORAL_ADDRESS) and no key of any provider.
 */
import { z } from 'zod';
import {
  ActionDeniedError,
  Agent,
  type ApprovalHandler,
  artifact,
  assertRunEvents,
  CapabilityPolicy,
  Part,
  RunAction,
  RunContext,
  RunRecorder,
  Task,
} from '../../src/faces/protolink/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';

const record = { id: 'record_42', status: 'draft' };
const asked: string[] = [];

const policy = new CapabilityPolicy({
  'records.read': 'allow',
  'records.write': 'require_approval',
  'records.delete': 'deny',
});

const approve: ApprovalHandler = ({ request_id, action }) => {
  asked.push(request_id);
  console.log(`approval requested: ${action.name} needs ${action.capabilities.join(', ')}`);
  console.log(`preview: ${JSON.stringify(action.artifacts[0]?.parts[0]?.content)}`);
  return { approved: true, request_id, reason: 'Approved by the example', decided_by: 'example-operator' };
};

const model = scriptedModel([
  calls('update_record_status', { status: 'published' }),
  says('The record is published.'),
]);
const agent = new Agent(
  { name: 'record-assistant', description: 'Changes records.' },
  { llm: { provider: model.provider, model: 'mock' }, policy, approvalHandler: approve },
).tool(
  {
    name: 'update_record_status',
    description: 'Sets the status of the record.',
    args: z.object({ status: z.string() }),
    capabilities: ['records.write'],
    actionBuilder: (given) =>
      new RunAction({
        kind: 'tool.call',
        name: 'update_record_status',
        payload: { arguments: given },
        artifacts: [
          artifact({
            kind: 'preview',
            name: 'record update',
            media_type: 'application/json',
            parts: [Part.json({ before: record.status, after: given.status })],
          }),
        ],
      }),
  },
  ({ status }) => {
    record.status = String(status);
    return record;
  },
);

const task = Task.createInfer({ prompt: 'Publish the record.' });
// The task cannot widen what the agent's policy says.
new RunContext({ sessionId: 'session_example', permissions: { 'records.write': 'allow' } }).attachToTask(
  task,
);
const recorder = new RunRecorder();
try {
  for await (const event of agent.handleTaskStreaming(task)) {
    recorder.emit(event);
    if (event.type !== 'llm.stream') console.log(`${event.sequence} ${event.type}: ${event.summary}`);
  }
  const { events, approvals } = recorder.toReport({ metadata: { source: 'example' } });
  assertRunEvents(events, [
    'action.requested',
    'action.policy',
    'approval.required',
    'approval.decided',
    'action.started',
    'action.completed',
  ]);
  console.log(`task: ${task.state}, record: ${record.status}, approvals in the report: ${approvals.length}`);

  const stricter = new RunContext({ permissions: { 'records.write': 'deny' } });
  try {
    await agent.callToolInContext('update_record_status', stricter, { status: 'archived' });
  } catch (error) {
    if (!(error instanceof ActionDeniedError)) throw error;
    console.log(`denied: ${error.message}`);
  }
  console.log(`record: ${record.status}, asked ${asked.length} time`);
} finally {
  await agent.close();
}

/**
 * What Tangle's page requires of tasks and turns, case by case, with PostgreSQL as the store: runs the tests of the
 * imported files.
 */
import '../support/on-postgres.ts';
import '../server/agent-run.test.ts';
import '../tasks/agent-starts-task.test.ts';
import '../tasks/manifest.test.ts';
import '../tasks/policy.test.ts';
import '../tasks/run-agent-task.test.ts';
import '../tasks/stream.test.ts';
import '../tasks/task.test.ts';
import '../tasks/threads.test.ts';
import './backend-task.test.ts';
import './chat-turn.test.ts';
import './far-box.test.ts';
import './produced-turn.test.ts';

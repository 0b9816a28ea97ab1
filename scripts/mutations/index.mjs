/**
 * What `npm run mutate` breaks, by area. A mutation has a `name` (what is broken), a `rule` (the promise), its `edits`
 * (each a text that occurs once in all of `src`, and its replacement), the `tests` that guard it, optionally a `title`
 * that selects among them, and `server` if they need Temporal's.
 */
import { DISK } from './disk.mjs';
import { MODELS } from './models.mjs';
import { SANDBOX } from './sandbox.mjs';
import { SECRETS } from './secrets.mjs';
import { STORE } from './store.mjs';
import { TOOLS } from './tools.mjs';
import { WORKFLOW } from './workflow.mjs';

export const PARTS = [
  { title: 'Models and activities', mutations: MODELS },
  { title: 'Tools', mutations: TOOLS },
  { title: 'Order and life of a thread', mutations: WORKFLOW },
  { title: 'The store', mutations: STORE },
  { title: 'The disk', mutations: DISK },
  { title: 'Secrets', mutations: SECRETS },
  { title: 'The sandbox', mutations: SANDBOX },
];

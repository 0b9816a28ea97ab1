/**
 * What `npm run mutate` breaks, by the part of the promises. A mutation has a `name` (what is broken), a `rule` (the promise), its
 * `edits` (each a text that stands once in all of `src`, and what is put in its place), the `tests` that guard it, where it helps the
 * `title` of those that are meant, and `server` where they need Temporal's.
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

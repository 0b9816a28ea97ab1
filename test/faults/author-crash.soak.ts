/** The long form of author-crash.test.ts: every kind of unit that can take its process down. */
import './author-crash.test.ts';

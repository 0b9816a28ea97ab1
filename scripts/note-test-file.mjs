/** A reporter of Jest that keeps the path of the test file that runs in the file EVERTHREAD_TEST_FILE_NOTE, for `watch-part.mjs`. */
import { writeFileSync } from 'node:fs';

export default class NoteTestFile {
  onTestFileStart({ path }) {
    const note = process.env.EVERTHREAD_TEST_FILE_NOTE;
    if (note) writeFileSync(note, path);
  }
}

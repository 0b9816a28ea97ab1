/** A reporter for Jest that writes the path of the running test file to the file EVERTHREAD_TEST_FILE_NOTE, for `watch-part.mjs`. */
import { writeFileSync } from 'node:fs';

export default class NoteTestFile {
  onTestFileStart({ path }) {
    const note = process.env.EVERTHREAD_TEST_FILE_NOTE;
    if (note) writeFileSync(note, path);
  }
}

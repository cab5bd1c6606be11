// The screen of preferences: two answers beside each other, which are a sheet with one item. A choice goes on by itself.
class Preference extends assay.Workbench {
  asked({ said }) {
    return said.open;
  }

  elementOf(sheet) {
    return sheet?.article;
  }

  wordsOf(sheet) {
    return sheet.article ? assay.say("this-pair", { number: sheet.number }) : assay.say("gone-item");
  }

  inWords(said) {
    const chosen = said.labels && this.choices.find(({ dataset }) => dataset.label === said.labels);
    return chosen ? chosen.querySelector("span").textContent : super.inWords(said);
  }

  arrive(sheet, item, isNew) {
    if (isNew) for (const panel of this.main.children) panel.scrollTop = 0;
    super.arrive(sheet, item);
    if (isNew) window.scrollTo(0, 0); // where the answers are below each other, the first one is read first
  }

  advance(changed = "") {
    this.next();
    if (changed) this.state.tell(changed);
  }
}

new Preference(await assay.tab()).start();

def test_bank(bank, as_anna):
    assert as_anna.get("/").status_code == 200
    r = as_anna.get(f"/nuggets/{bank.pk}/")
    assert r.status_code == 200
